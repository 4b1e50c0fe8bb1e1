// Scorer: asks the target for the rows of a draft, in as few passes as the calls that the target offers allow. What
// then reads the rows is only declared here.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/core/contract.hpp>
#include <specsample/models/host.hpp>
#include <specsample/rows/rows.hpp>
#include <specsample/tree/draft_tree.hpp>
#include <specsample/verify/round.hpp>
#include <specsample/verify/score.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The rows of a tree that came in several passes. The row after a node that ends the text is not asked for; row 0
/// stands in its place, and no walk reads it.
template <class Rows>
class PathRows {
    using Kept = OwnedRow<Element<Rows>>;

  public:
    void clear(Index count) {
        slots_.resize(std::max(slots_.size(), static_cast<std::size_t>(count)));
        slot_of_.assign(static_cast<std::size_t>(count), no_node);
    }

    bool has(Index i) const { return slot_of_[static_cast<std::size_t>(i)] != no_node; }

    void put(Index i, Element<Rows>&& row) {
        slot_of_[static_cast<std::size_t>(i)] = i;
        slots_[static_cast<std::size_t>(i)].keep(std::forward<Element<Rows>>(row));
    }

    std::size_t size() const { return slot_of_.size(); }
    const auto& operator[](std::size_t i) const {
        return slots_[static_cast<std::size_t>(std::max<Index>(slot_of_[i], 0))].row();
    }
    /// Return row i. Rows that can be called count as computed, so that a check of every row reads only the rows that a
    /// walk reaches: after a token that a grammar refuses there is no row, and no walk asks for it.
    const auto& operator()(Index i) const
        requires(!is_supplied<Rows>)
    {
        return (*this)[static_cast<std::size_t>(i)];
    }

  private:
    std::vector<Kept> slots_;
    std::vector<Index> slot_of_;
};

/// Judge the draft tree of a round.
template <class L, class Rows, class Rule, class Source>
Round judge_draft(const DraftTree<L>& draft_tree, Rows& rows, const Rule& rule, const Source& rng,
                  const RoundLimits& limits, RoundMemory& memory);  // sampler/sampler.hpp
template <class L, ValueList Rows, class Rule, class Source>
Round judge_draft(const DraftTree<L>& draft_tree, Rows& rows, const Rule& rule, const Source& rng,
                  const RoundLimits& limits, RoundMemory& memory);  // sampler_values.hpp

/// Score the tokens of a round.
template <class Rows>
void score_round(const Round& round, Rows& rows, Scores& memory, Index top);  // sampler/sampler.hpp
template <ValueList Rows>
void score_round(const Round& round, Rows& rows, Scores& memory, Index top);  // sampler_values.hpp

/// Whether a rule reads each row once, and none after it has asked for another.
template <class Rule>
inline constexpr bool reads_once = requires { requires bool(Rule::reads_once); };

/// Gets the rows of draft trees from a target: in one pass if the target scores many positions and the draft is a
/// chain, or if it takes trees; in one pass per path if the draft branches and the target takes no trees; row by row,
/// as they are asked for, if it scores one position at a time.
/// @tparam may_branch   false: every draft tree is a chain
template <class Target, bool may_branch = true>
class Scorer {
  public:
    explicit Scorer(Target target) : target_(std::move(target)) {}

    /// Return the number of ids of the target; 2^31 - 1 before the first round.
    Index vocab() const { return vocab_; }

    /// Call judge(rows) on the rows of a draft tree after `text`, and record in its round how many passes the rows
    /// took.
    /// @tparam once   judge reads rows as a rule of reads_once does: rows that the target returns one at a time are
    ///                then not copied
    /// @param known   leading tokens of the text that are the same as at the last call
    /// @edge          the size of the vocabulary is not known before the target's first row. If the draft names an id
    ///                outside it, the draft ends before that id, and its rows are asked for once more; a target that
    ///                scores several positions at once has then been shown that id
    template <bool once = false, class L, class Judge>
    Round score(std::span<const Token> text, Index known, DraftTree<L>& draft_tree, const Judge& judge) {
        const Round made = score_once<once>(text, known, draft_tree, judge);
        const bool is_outside =
            made.fault && made.fault->side == Side::draft && made.fault->cause == Cause::outside_vocabulary;
        if (!is_outside || !draft_tree.decline_from(made.fault->row)) return made;
        Round again = score_once<once>(text, known, draft_tree, judge);
        again.passes += made.passes;
        return again;
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(target_); }

  private:
    template <bool once, class L, class Judge>
    Round score_once(std::span<const Token> text, Index known, const DraftTree<L>& draft_tree, const Judge& judge) {
        follow(context_, text, known, draft_tree.size());
        if constexpr (BatchModel<Target>) {
            if (draft_tree.links().is_chain()) return score_chain(known, draft_tree, judge);
        }
        if constexpr (BatchModel<Target> && !may_branch) {
            invalid("Sampler", "the drafter's draft tree", "a tree", "a chain, because its type says branches = false");
        } else if constexpr (TreeModel<Target>) {
            return score_tree(known, draft_tree, judge);
        } else if constexpr (BatchModel<Target>) {
            return score_paths(std::ssize(text), known, draft_tree, judge);
        } else {
            return score_lazily<once>(std::ssize(text), known, draft_tree, judge);
        }
    }

    /// Count the nodes on a path whose rows are needed: the row after a node that ends the text is not.
    template <class L>
    static Index scored_depth(const DraftTree<L>& draft_tree, Index node) {
        return draft_tree.depth(node) - (draft_tree.ends(node) ? 1 : 0);
    }

    template <class L, class Judge>
    Round score_chain(Index known, const DraftTree<L>& draft_tree, const Judge& judge) {
        const Index last = draft_tree.size() - 1;
        const Index depth = scored_depth(draft_tree, last);
        context_.insert(context_.end(), draft_tree.tokens().begin(), draft_tree.tokens().begin() + depth);
        auto&& rows = target_.ask_about(context_, known, depth + 1);
        if (const auto fault = check_count(rows, Side::target, depth + 1)) return {.fault = fault};
        return learn(rows, judge(rows));
    }

    template <class L, class Judge>
    Round score_tree(Index known, const DraftTree<L>& draft_tree, const Judge& judge) {
        auto&& rows = target_.ask_about(context_, known, draft_tree.view());
        if (const auto fault = check_count(rows, Side::target, draft_tree.size() + 1)) return {.fault = fault};
        return learn(rows, judge(rows));
    }

    /// Make one pass per leaf, for the nodes on its path that have no row yet. Rows are copied, because they are gone
    /// with the target's next call.
    template <class L, class Judge>
    Round score_paths(Index start, Index known, const DraftTree<L>& draft_tree, const Judge& judge) {
        Index passes = 0;
        path_rows_.clear(draft_tree.size() + 1);
        for (Index leaf = 0; leaf < draft_tree.size(); ++leaf) {
            if (draft_tree.links().first_child(leaf) != no_node) continue;
            const Index end = draft_tree.ends(leaf) ? draft_tree.parent(leaf) : leaf;  // the last row needed
            Index count = 0;  // nodes from `end` up that have no row yet
            for (Index node = end; !path_rows_.has(node + 1); node = draft_tree.parent(node)) {
                ++count;
                if (node == root_node) break;
            }
            if (count == 0) continue;
            context_.resize(static_cast<std::size_t>(start));
            draft_tree.append_path(end, context_);
            auto&& rows = target_.ask_about(context_, known, count);
            ++passes;
            known = start;
            if (const auto fault = check_count(rows, Side::target, count)) return {.fault = fault};
            Index node = end;
            for (Index i = count; i-- > 0; node = node == root_node ? root_node : draft_tree.parent(node))
                path_rows_.put(node + 1, element(rows, i));
        }
        return learn(path_rows_, judge(path_rows_), passes);
    }

    /// Make one pass per row, when the row is asked for.
    template <bool once, class L, class Judge>
    Round score_lazily(Index start, Index known, const DraftTree<L>& draft_tree, const Judge& judge) {
        Index passes = 0, vocab = 0;
        if constexpr (!once) {
            ready_.assign(static_cast<std::size_t>(draft_tree.size() + 1), false);
            rows_.open(draft_tree.size() + 1);
        }
        const auto answer = [&](Index i) -> decltype(auto) {
            context_.resize(static_cast<std::size_t>(start));
            draft_tree.append_path(i - 1, context_);
            ++passes;
            const Index shown = known;
            known = start;
            return target_.ask_about(context_, shown);
        };
        const auto made = [&](Index i) -> const auto& {
            const auto sized = [&](const auto& row) -> const auto& {
                if (i == 0) vocab = row_size(row);
                return row;
            };
            if constexpr (once) {
                return sized(rows_.show(answer(i)));
            } else {
                const auto at = static_cast<std::size_t>(i);
                if (!ready_[at]) rows_.put(i, answer(i));
                ready_[at] = true;
                return sized(rows_.row(i));
            }
        };
        const Round round = judge(made);
        return learn(vocab, round, passes);
    }

    /// Record the size of the target's vocabulary, so that no model is shown an id outside it, and the passes that the
    /// rows took.
    Round learn(Index vocab, Round made, Index passes) {
        if (!made.tokens.empty()) vocab_ = vocab;
        made.passes = passes;
        return made;
    }
    template <class Rows>
    Round learn(Rows& rows, Round made, Index passes = 1) {
        return learn(RowRef<Element<Rows>>(element(rows, 0)).size(), made, passes);
    }

    template <class T, bool needed = may_branch>
    struct PathRowsOf {
        struct type {};
    };
    template <BatchModel T>
    struct PathRowsOf<T, true> {
        using type = PathRows<std::remove_reference_t<Answer<T, Index>>>;
    };

    Host<Target> target_;
    RowSlots<Target> rows_;
    std::vector<Token> context_;  ///< the text and the path that the target was shown last
    std::vector<bool> ready_;
    typename PathRowsOf<Target>::type path_rows_;
    Index vocab_ = 0x7fffffff;
};

}}}  // namespace specsample::detail

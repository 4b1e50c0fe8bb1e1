// Staged speculation: a middle model verifies the drafts of a small model, and the result is the target's draft.
// The drafter is part of the sampler's folder because it runs rounds itself.
//
// Chen et al.: "Cascade speculative drafting" (arXiv:2312.11462), vertical cascades.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/chain.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/sampler/sampler.hpp>
#include <specsample/sampler/scorer.hpp>
#include <specsample/sampler/written.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The type of a model's rows, whether they come one by one or several at a time.
template <class M>
struct RowOf : std::type_identity<Answer<M>> {};
template <BatchModel M>
struct RowOf<M> : std::type_identity<Element<std::remove_reference_t<Answer<M, Index>>>> {};
template <TreeModel M>
    requires(!Model<M> && !BatchModel<M>)
struct RowOf<M> : std::type_identity<Element<std::remove_reference_t<Answer<M, Tree<Token, Index>>>>> {};

/// The random numbers of a round inside a draft, under rules that share the target's noise: the races are the target's
/// own, at the round's place in the text, and all other numbers belong to the round.
template <class Source>
struct RacesOf {
    const Source& outer;
    Index begin;  ///< drafted tokens before the round
    Source own;

    auto at(Purpose purpose, Index node) const {
        return purpose == Purpose::race ? outer.at(purpose, begin + node) : own.at(purpose, node);
    }
    Source split(Index part) const { return own.split(part); }
};

}  // namespace detail

/// Drafts with two models: `middle` verifies rounds of `draft`, until the draft is as long as it may be. The rule
/// between the two must be lossless: the drafted tokens then follow the middle model's distribution exactly, whatever
/// the small model is, and the target judges them by that distribution.
///
///     Sampler sampler(StagedDrafter(small, middle, 4), large, {.lookahead = 12});
///
/// @tparam Draft    a model or a drafter
/// @tparam Middle   a model, as a target is
/// @tparam Rule     how the middle model judges the drafts. A rule that shares noise shares it with the small model,
///                  and with the target if that judges by such a rule, too: all three models then tend to agree
/// @draws           the draws of its rounds; each round has a random source of its own
/// @cost            the passes of the middle model that its rounds take; one pass over each of these rows that a round
///                  reads, and one copied row per token
/// @edge            bad data of either model is a fault of the draft, at the token that was to be drafted. Where the
///                  middle model makes no token possible, the draft ends
/// @source          Chen et al.: "Cascade speculative drafting" (arXiv:2312.11462), vertical cascades, made lossless by
///                  the distribution that is passed on
template <class Draft, class Middle, class Rule = TokenVerification>
class StagedDrafter {
    static_assert(
        Rule::lossless,
        "specsample::StagedDrafter: the rule between draft and middle model must be lossless, for the target is "
        "told that the tokens follow the middle model's distribution; use TokenVerification or BlockVerification");
    using Drafts = typename detail::DrafterOf<Draft>::type;
    using Row = detail::OwnedRow<const std::remove_cvref_t<typename detail::RowOf<Middle>::type>&>;

  public:
    using Distribution = typename detail::Over<typename Row::View>::Distribution;
    static constexpr bool branches = false;

    /// Make a drafter of two models.
    /// @param lookahead   tokens that a round of the two models drafts
    /// @throws            std::invalid_argument unless 1 <= lookahead <= most_drafted, and if it would cut the
    ///                    drafter's trees
    StagedDrafter(Draft draft, Middle middle, Index lookahead, Rule rule = {})
        : drafter_(Drafts(std::move(draft))),
          scorer_(std::move(middle)),
          lookahead_(lookahead),
          rule_(std::move(rule)) {
        detail::require_length("StagedDrafter", "lookahead", lookahead, 1);
        if (const Index depth = drafter_.depth(); lookahead < depth)
            detail::invalid("StagedDrafter", "lookahead", lookahead,
                            "at least the depth of the drafter's trees, " + detail::to_text(depth));
    }

    /// Fill an open draft tree with a chain, as concepts.hpp says of drafters.
    template <class Source, class L>
        requires std::convertible_to<Distribution, L> || (std::same_as<L, SharedNoise> && detail::shares_noise<Rule>)
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        detail::follow(text_, prefix, 0, draft_tree.depth_limit());
        written_.begin(draft_tree.until());
        const Index start = std::ssize(prefix);
        Index known = 0;
        for (Index node = root_node; draft_tree.grows(node);) {
            const Index begin = draft_tree.depth(node);
            const Round made = [&] {
                const auto own = detail::split(rng, begin);
                if constexpr (std::same_as<L, SharedNoise>)
                    return round(known, begin, detail::RacesOf<Source>{rng, begin, own}, draft_tree);
                else
                    return round(known, begin, own, draft_tree);
            }();
            if (made.fault) {
                RowFault fault = *made.fault;
                fault.side = Side::draft;
                fault.row = draft_tree.size();
                return draft_tree.blame(fault);
            }
            if (made.tokens.empty()) return;
            known = start + begin;
            for (const Token token : made.tokens) {
                if constexpr (std::same_as<L, SharedNoise>) {
                    node = draft_tree.add(node, token, SharedNoise{});
                } else {
                    const auto place = static_cast<std::size_t>(draft_tree.depth(node));
                    node = draft_tree.add(node, token, drawn_from(rows_[place].row()));
                }
                text_.push_back(token);
            }
            written_.commit(made.tokens);
        }
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) {
        visit(drafter_);
        visit(scorer_);
    }

  private:
    /// Make a round of the two models after the first `begin` tokens of the draft, and keep the row of each token. The
    /// round has no tokens if the middle model makes none possible, and ends with a token after which the middle model
    /// makes none possible.
    template <class Source, class L>
    Round round(Index known, Index begin, const Source& rng, const DraftTree<L>& draft_tree) {
        const Index room = draft_tree.depth_limit() - begin;
        inner_.open(std::min(lookahead_, room - 1), draft_tree.stop_tokens(), scorer_.vocab(), written_.of_round());
        drafter_.propose(text_, known, rng, inner_);
        if (inner_.fault()) return {.fault = inner_.fault()};
        return scorer_.score(text_, known, inner_, [&](auto& rows) -> Round {
            if (is_impossible(rows, 0)) return {};
            // A token that ends the draft stays in it, even if it will be left out of the text: dropping it would be a
            // choice by its identity, which is lossy.
            const auto until = [&](std::span<const Token> tokens) {
                const Index node = find(root_node, tokens);
                const bool ends = node == no_node ? written_(tokens) != StopDecision::go_on
                                                  : inner_.ends(node) || is_impossible(rows, node + 1);
                return ends ? StopDecision::include : StopDecision::go_on;
            };
            const RoundLimits limits{.max_tokens = room, .stop_tokens = draft_tree.stop_tokens(), .until = until};
            memory_.endings.clear();
            const Round made = detail::judge_draft(inner_, rows, rule_, rng, limits, memory_);
            for (Index i = 0; !std::same_as<L, SharedNoise> && i < std::ssize(made.tokens); ++i)
                keep(begin + i, detail::element(rows, i == 0 ? 0 : made.path[static_cast<std::size_t>(i - 1)] + 1));
            return made;
        });
    }

    /// Find the first node of the inner draft below `node` with this path; no_node if there is none.
    Index find(Index node, std::span<const Token> path) const {
        for (Index child = inner_.links().first_child(node); child != no_node;
             child = inner_.links().next_sibling(child)) {
            if (inner_.token(child) != path.front()) continue;
            const Index end = path.size() == 1 ? child : find(child, path.subspan(1));
            if (end != no_node) return end;
        }
        return no_node;
    }

    /// Tell whether a row of the middle model makes no token possible.
    template <class Rows>
    static bool is_impossible(Rows& rows, Index number) {
        const detail::RowRef<detail::Element<Rows>> row(detail::element(rows, number));
        const auto bad = kernels::inspect(row.row(), Side::draft, number);
        return bad && detail::makes_nothing_possible(*bad);
    }

    /// Return the distribution of a token that was drawn from a row.
    template <class R>
    static Distribution drawn_from(const R& row) {
        if constexpr (detail::RowValue<R>)
            return Distribution::sampled(row);
        else
            return Distribution(row);
    }

    template <class R>
    void keep(Index place, const R& row) {
        while (std::ssize(rows_) <= place) rows_.emplace_back();
        rows_[static_cast<std::size_t>(place)].keep(row);
    }

    detail::Proposer<Drafts> drafter_;
    detail::Scorer<Middle, detail::may_branch<Drafts>> scorer_;
    Index lookahead_;
    Rule rule_;

    // Reused from round to round.
    DraftTree<detail::DistributionOf<Drafts, detail::shares_noise<Rule>>> inner_;
    std::deque<Row> rows_;  // must not move, because distributions point at them
    std::vector<Token> text_;
    detail::Written written_;  ///< the tokens of the draft, for the predicate that ends the text
    detail::RoundMemory memory_;
};

}}  // namespace specsample

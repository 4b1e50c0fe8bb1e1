// Drafters from several heads on one model, which give the distributions of the next few tokens in one call.
//
//   HeadsDrafter    a chain, each token drawn from the row of its head
//   HybridDrafter   a chain of another model, with the heads' most probable tokens as its side branches
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/chain.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/drafters/united.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/rows/row_copy.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace heads {

/// A model of several heads. heads(prefix) returns rows as a BatchModel does: row i is the distribution of the token i
/// places after the next one, given the prefix alone.
///
/// The papers number the heads differently. There a pass over a text of t tokens gives the distribution of token t + 1
/// at the LM head and of token t + k + 1 at head k. When a round begins, token t + 1 is written and the model has not
/// seen it. Row 0 here is therefore head 1 at the position before the prefix's last token; the LM head is not among the
/// rows, because it is the target.
///
/// A head that is shown the tokens drafted before its own is an ordinary model, for ChainDrafter or TreeDrafter:
/// DeepSeek's MTP (arXiv:2412.19437), EAGLE (arXiv:2401.15077), ReDrafter (arXiv:2403.09919).
///
/// @source   Stern et al. 2018, blockwise parallel decoding, arXiv:1811.03115; Cai et al. 2024, Medusa-1 and -2,
///           arXiv:2401.10774; Gloeckle et al. 2024, multi-token prediction, arXiv:2404.19737; Speculative Streaming,
///           arXiv:2402.11131
template <class H>
concept HeadsModel = Model<H> && detail::ReturnedRows<detail::Answer<H>>;

}  // namespace heads

namespace detail {

/// The rows of one call of the heads, kept until the round ends.
template <heads::HeadsModel Heads>
class HeadRows {
  public:
    using Kept = RowRef<Element<const std::remove_cvref_t<Answer<Heads>>>>;
    using View = decltype(std::declval<const Kept&>().view());

    HeadRows(Heads heads, Index count) : heads_(std::move(heads)), count_(count) {}

    /// Ask the heads for their rows after a prefix.
    /// @param where   the caller's name, for the error message
    /// @throws        std::invalid_argument if there are fewer or more rows than heads
    void ask_about(const std::vector<Token>& prefix, std::string_view where) {
        const Index found = element_count(rows_.hold(ask(heads_, prefix)), count_);
        if (found != count_) invalid(where, "the number of rows that heads(prefix) returns", found, to_text(count_));
        kept_.clear();
        kept_.resize(static_cast<std::size_t>(count_));
    }

    Index size() const { return count_; }
    const auto& row(Index i) {
        auto& kept = kept_[static_cast<std::size_t>(i)];
        if (!kept) kept.emplace(element(std::as_const(*rows_), i));
        return kept->row();
    }
    /// Write the most probable tokens of row i.
    /// @returns   how many there are
    Index top_ids(Index i, std::span<Token> ids) {
        return with_row(row(i), [&](const auto& given) { return kernels::top_ids(given, ids); });
    }

  private:
    Heads heads_;
    Index count_;
    LastAnswer<Answer<Heads>> rows_;
    std::vector<std::optional<Kept>> kept_;  ///< rows read so far
};

}  // namespace detail

namespace heads {

/// Drafts a chain from the rows of several heads, up to the depth limit. A row does not depend on the tokens drawn
/// before it, which costs acceptance but not exactness.
///
///     Sampler sampler(heads::HeadsDrafter(heads_model, 3), target, {.lookahead = 3});
///
/// At lookahead 0 the heads are not called, and the text is the same as in plain decoding, bit for bit.
///
/// @tparam Heads   a HeadsModel; rows that it returns as views or by reference stay valid until the round ends
/// @draws          one draft draw per token, in order; under a rule that shares the target's noise, one race instead
/// @cost           one call of the heads, and one pass per token
/// @edge           the chain ends at a row that makes no token possible
/// @throws         std::invalid_argument from propose, if heads(prefix) does not return `count` rows
template <HeadsModel Heads>
class HeadsDrafter {
  public:
    using Distribution = typename detail::Over<typename detail::HeadRows<Heads>::View>::Distribution;
    static constexpr bool branches = false;
    static constexpr bool cut_is_prefix = true;

    /// @param count   number of rows that heads(prefix) returns
    /// @throws        std::invalid_argument unless count >= 1
    HeadsDrafter(Heads heads, Index count) : rows_(std::move(heads), count) {
        detail::require(count >= 1, "HeadsDrafter", "count", count, "at least 1");
    }

    template <class Source, class L>
        requires std::convertible_to<Distribution, L> || std::same_as<L, SharedNoise>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        if (!draft_tree.grows(root_node)) return;
        context_.assign(prefix.begin(), prefix.end());
        rows_.ask_about(context_, "HeadsDrafter");
        Index node = root_node;
        for (Index i = 0; i < rows_.size() && draft_tree.grows(node); ++i)
            node = detail::draw_child(rows_.row(i), node, rng, draft_tree);
    }

  private:
    detail::HeadRows<Heads> rows_;
    std::vector<Token> context_;
};

/// Drafts a chain, and adds after the prefix and after each token of the chain the most probable tokens of the head for
/// that place. A head's token costs a node in the target's pass but no call of the draft model, and may be accepted
/// where the chain's token is rejected. Each child has its own distribution: the row that a drawn token was drawn from,
/// a point mass for a head's token.
///
/// @tparam Draft   a model or a drafter of chains
/// @tparam Heads   a HeadsModel
/// @draws          the draws of the chain
/// @cost           the cost of the chain, one call of the heads, and one pass per place that the chain reaches
/// @edge           tokens of a head that are outside the target's vocabulary are left out
/// @throws         std::invalid_argument from propose, if heads(prefix) does not return one row per branching
template <class Draft, HeadsModel Heads>
class HybridDrafter {
    using Drafts = typename detail::DrafterOf<Draft>::type;

  public:
    using Distribution =
        typename detail::EitherDistribution<typename detail::Unwrapped<Drafts>::Distribution, PointMass>::type;

    /// @param branching   number of head tokens at each place, 0 or more; one entry per row of heads(prefix)
    /// @throws            std::invalid_argument if there is no entry, or one is outside 0 .. most_drafted
    HybridDrafter(Draft draft, Heads heads, std::vector<Index> branching)
        : chain_(std::move(draft)), rows_(std::move(heads), std::ssize(branching)), branching_(std::move(branching)) {
        detail::require(!branching_.empty(), "HybridDrafter", "the number of branchings", std::ssize(branching_),
                        "at least 1");
        for (const Index count : branching_) detail::require_length("HybridDrafter", "a branching", count, 0);
        ids_.resize(static_cast<std::size_t>(std::ranges::max(branching_)));
    }

    Index depth() const { return std::max(std::ssize(branching_), detail::depth_of(chain_)); }

    template <class Source, class L>
        requires detail::Fills<Drafts, L> && std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        const Index first = draft_tree.size();
        detail::Unwrapped<Drafts>& chain = chain_;
        chain.propose(prefix, rng, draft_tree);
        const Index end = draft_tree.size();
        if (!draft_tree.grows(root_node)) return;
        context_.assign(prefix.begin(), prefix.end());
        rows_.ask_about(context_, "HybridDrafter");
        Index parent = root_node;
        for (Index depth = 0; depth < rows_.size() && draft_tree.grows(parent); ++depth) {
            branch(depth, parent, draft_tree);
            if (first + depth == end) break;
            parent = first + depth;
        }
    }

    void rollback(Index length)
        requires Rewindable<Drafts>
    {
        detail::Unwrapped<Drafts>& chain = chain_;
        chain.rollback(length);
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(chain_); }

  private:
    template <class L>
    void branch(Index depth, Index parent, DraftTree<L>& draft_tree) {
        const std::span ids(ids_.data(), static_cast<std::size_t>(branching_[static_cast<std::size_t>(depth)]));
        const Index found = rows_.top_ids(depth, ids);
        for (const Token id : ids.first(static_cast<std::size_t>(found))) draft_tree.add(parent, id, PointMass{});
    }

    Drafts chain_;
    detail::HeadRows<Heads> rows_;
    std::vector<Index> branching_;
    std::vector<Token> ids_;
    std::vector<Token> context_;
};

}  // namespace heads

}}  // namespace specsample

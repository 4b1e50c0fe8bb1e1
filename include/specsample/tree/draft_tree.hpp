// The draft of one round: its tokens, the parent of each, and the distribution that each was drawn from.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/tree/endings.hpp>
#include <specsample/tree/links.hpp>
#include <specsample/tree/point_mass.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

// How `decline` checks a row. The loops over rows are in headers of their own: this one does without Eigen.
namespace kernels {
template <RowLike R>
std::optional<RowFault> inspect(const R& row, Side side, Index number);  // kernels/inspect.hpp
template <detail::RowValue R>
std::optional<RowFault> inspect(const R& row, Side side, Index number);  // drafters/draft_value.hpp
}  // namespace kernels

namespace detail {

/// A distribution that may have a row behind it.
template <class L>
concept MayHaveRow = RowDistribution<L> || std::same_as<L, Origin>;

/// Tell whether a token was drawn with numbers of the drafter's own.
template <NodeDistribution L>
bool is_drawn(const L& distribution) {
    if constexpr (std::same_as<L, Origin>)
        return distribution.is_sampled();
    else if constexpr (RatioDistribution<L>)
        return !distribution.is_point();
    else
        return false;
}

}  // namespace detail

/// The draft tree that a drafter fills. Its memory is reused from round to round.
///
///     Index node = root_node;
///     while (draft_tree.grows(node)) node = draft_tree.add(node, token, distribution);
///
/// @tparam L   the draft distribution of its nodes: Mixed where they differ, Origin over rows that are values,
///             SharedNoise where tokens are drawn with the target's noise
template <detail::NodeDistribution L>
class DraftTree {
  public:
    /// Stands for a node that was not added: nothing grows after it.
    static constexpr Index declined = -2;

    /// Begin a new draft.
    /// @param depth         the largest number of tokens on a path
    /// @param stop_tokens   tokens that nothing follows; borrowed until the next draft
    /// @param vocab         the size of the target's vocabulary, as far as it is known
    /// @param until         a predicate that ends the text, as RoundLimits::until does; borrowed until the next draft
    void open(Index depth, ListRef<Token> stop_tokens, Index vocab, detail::StopPredicate until = {}) {
        depth_ = depth;
        stop_tokens_ = stop_tokens;
        vocab_ = vocab;
        until_ = until;
        endings_.clear();
        fault_.reset();
        tokens_.clear();
        parents_.clear();
        distributions_.clear();
        links_.become_chain(0);
    }

    /// Return the largest number of tokens on a path.
    Index depth_limit() const { return depth_; }

    /// Tell whether a node may have children: it is above the depth limit and does not end the text, and no fault was
    /// met so far. A token that ends the text stays in the draft, because dropping it would be a choice by its
    /// identity, which is lossy.
    bool grows(Index node) const {
        if (fault_ || node == declined) return false;
        return node == root_node ? depth_ > 0 : depth(node) < depth_ && !ends(node);
    }
    /// Tell whether the text ends at a node, by a stop token or `until`.
    /// @cost   asks the predicate once per node at most
    bool ends(Index node) const { return endings_.ends({links_, tokens_, stop_tokens_, until_}, node); }

    /// Add a child after the last child of `parent`.
    /// @param id    the token, of any integral type
    /// @returns     the new node, or `declined`
    /// @edge        an id outside the target's vocabulary is declined, and the draft ends there. This is a choice by
    ///              the token's identity, so it is lossless only for tokens that are named or drawn with the target's
    ///              noise. For a token drawn from a row it is a fault, because the row has another vocabulary. The id
    ///              -1, from a draw that found no token, is handled as in `decline`
    Index add(Index parent, detail::Integer auto id, const L& distribution) {
        if (parent == declined) return declined;
        if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, vocab_)) {
            if constexpr (detail::MayHaveRow<L>)
                if (detail::is_drawn(distribution) && std::cmp_equal(id, -1)) return decline(distribution.row());
            if (detail::is_drawn(distribution))
                blame({Side::draft, Cause::outside_vocabulary, size(), double(id), double(vocab_)});
            return declined;
        }
        tokens_.push_back(static_cast<Token>(id));
        parents_.push_back(parent);
        distributions_.push_back(distribution);
        if constexpr (requires(L& added, Token token) { added.remember(token); })
            distributions_.back().remember(tokens_.back());
        links_.add(parent);
        return size() - 1;
    }

    /// End a branch where no token could be taken from a row. This is a fault only if the row is bad; a row that makes
    /// no token possible, such as an empty one, is not. The decision does not depend on which token might have been
    /// drawn, so the text keeps its distribution.
    /// @returns   `declined`
    /// @cost      a pass over the row
    template <detail::AnyRow R>
    Index decline(const R& row) {
        const auto bad = kernels::inspect(row, Side::draft, size());
        if (bad && !detail::makes_nothing_possible(*bad)) blame(*bad);
        return declined;
    }

    /// Drop a node that has turned out to be outside the target's vocabulary, and all nodes that were added after it.
    /// @returns   false if its token was drawn from a row. Then nothing is dropped, because that would be lossy
    bool decline_from(Index node) {
        if (detail::is_drawn(distributions_[static_cast<std::size_t>(node)])) return false;
        tokens_.resize(static_cast<std::size_t>(node));
        parents_.resize(tokens_.size());
        while (distributions_.size() > tokens_.size()) distributions_.pop_back();
        links_.become_chain(0);
        for (const Index parent : parents_) links_.add(parent);
        return true;
    }

    /// Record bad data that was met while drafting. The first fault is kept, and no node grows after it.
    void blame(const RowFault& fault) {
        if (!fault_) fault_ = fault;
    }
    /// Return the first bad data that was met, if any.
    const std::optional<RowFault>& fault() const { return fault_; }

    Index size() const { return links_.size(); }
    Token token(Index node) const { return tokens_[static_cast<std::size_t>(node)]; }
    Index parent(Index node) const { return links_.parent(node); }
    /// Return the number of tokens on the path to a node, the node included; 0 for the prefix.
    Index depth(Index node) const { return links_.depth(node); }
    std::span<const Token> stop_tokens() const { return stop_tokens_; }
    /// Return the predicate that ends the text, if any. It is shown the tokens on a path.
    const detail::StopPredicate& until() const { return until_; }
    /// Return the size of the target's vocabulary, as far as it is known.
    Index vocab() const { return vocab_; }
    /// Return what the predicate has answered so far.
    const detail::Endings& endings() const { return endings_; }
    /// Take over the predicate's answer about a node of another tree with the same path.
    void take_ending(Index node, const auto& from, Index there) {
        if (node != declined) endings_.take(node, from.endings(), there);
    }
    /// Tell whether a token is one of the stop tokens.
    bool is_stop(Token token) const { return detail::is_among(stop_tokens_, token); }

    std::span<const Token> tokens() const { return tokens_; }
    const std::vector<L>& distributions() const { return distributions_; }
    /// Return the tokens and their parents, as verify and tree models take them.
    Tree<Token, Index> view() const { return {tokens_, parents_}; }
    /// Return the links between the nodes.
    const detail::Links& links() const { return links_; }

    /// Append the tokens on the path to a node to `text`.
    void append_path(Index node, std::vector<Token>& text) const {
        const auto end = text.size() + static_cast<std::size_t>(depth(node));
        text.resize(end);
        for (std::size_t i = end; node != root_node; node = parent(node)) text[--i] = token(node);
    }

  private:
    Index depth_ = 0;
    std::span<const Token> stop_tokens_{};
    detail::StopPredicate until_{};
    mutable detail::Endings endings_;
    Index vocab_ = 0;
    std::optional<RowFault> fault_{};
    std::vector<Token> tokens_;
    std::vector<Index> parents_;
    std::vector<L> distributions_;
    detail::Links links_;
};

}}  // namespace specsample

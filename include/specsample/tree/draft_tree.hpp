// The draft of one round: its tokens, the parent of each, and the distribution that each was drawn from.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/row.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/links.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

/// The draft tree that a drafter fills. Its memory is reused from round to round.
///
///     Index node = root_node;
///     while (draft_tree.grows(node)) node = draft_tree.add(node, token, distribution);
///
/// @tparam L   the draft distribution of its nodes: Mixed where they differ, SharedNoise where tokens are drawn with
///             the target's noise
template <DraftDistribution L>
class DraftTree {
  public:
    /// Begin a new draft.
    /// @param depth         the largest number of tokens on a path
    /// @param stop_tokens   tokens that nothing follows; borrowed until the next draft
    /// @param vocab         the size of the target's vocabulary, as far as it is known
    void open(Index depth, ListRef<Token> stop_tokens, Index vocab) {
        depth_ = depth;
        stop_tokens_ = stop_tokens;
        vocab_ = vocab;
        fault_.reset();
        tokens_.clear();
        parents_.clear();
        distributions_.clear();
        links_.become_chain(0);
    }

    /// The largest number of tokens on a path.
    Index depth_limit() const { return depth_; }

    /// Whether a node may have children: it is above the depth limit and no stop token, and no fault was met so far. A
    /// stop token itself stays in the draft: dropping it would be a choice by its own identity, which is lossy.
    bool grows(Index node) const {
        if (fault_) return false;
        return node == root_node ? depth_ > 0 : depth(node) < depth_ && !is_stop(token(node));
    }

    /// Add a child after the last child of `parent`.
    /// @param id    the token, of any integral type
    /// @returns     the new node
    /// @edge        an id outside the target's vocabulary is recorded as a fault, and `parent` is returned
    Index add(Index parent, detail::Integer auto id, const L& distribution) {
        if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, vocab_)) {
            blame({.side = Side::draft,
                   .cause = Cause::outside_vocabulary,
                   .row = size(),
                   .value = static_cast<double>(id),
                   .bound = static_cast<double>(vocab_)});
            return parent;
        }
        tokens_.push_back(static_cast<Token>(id));
        parents_.push_back(parent);
        distributions_.push_back(distribution);
        if constexpr (requires(L& added, Token token) { added.remember(token); })
            distributions_.back().remember(tokens_.back());
        links_.add(parent);
        return size() - 1;
    }

    /// Record bad data that was met while drafting. The first fault is kept, and no node grows after it.
    void blame(const RowFault& fault) {
        if (!fault_) fault_ = fault;
    }
    /// The first bad data that was met, if any.
    const std::optional<RowFault>& fault() const { return fault_; }

    Index size() const { return links_.size(); }
    Token token(Index node) const { return tokens_[static_cast<std::size_t>(node)]; }
    Index parent(Index node) const { return links_.parent(node); }
    /// The number of tokens on the path to a node, itself included; 0 for the prefix.
    Index depth(Index node) const { return links_.depth(node); }
    std::span<const Token> stop_tokens() const { return stop_tokens_; }
    /// Whether a token is one of the stop tokens.
    bool is_stop(Token token) const {
        for (const Token stop : stop_tokens_)
            if (token == stop) return true;
        return false;
    }

    std::span<const Token> tokens() const { return tokens_; }
    const std::vector<L>& distributions() const { return distributions_; }
    /// The tokens and their parents, as verify and tree models take them.
    Tree<Token, Index> view() const { return {tokens_, parents_}; }
    /// The links of the nodes, which a chain has no need of.
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
    Index vocab_ = 0;
    std::optional<RowFault> fault_{};
    std::vector<Token> tokens_;
    std::vector<Index> parents_;
    std::vector<L> distributions_;
    detail::Links links_;
};

}  // inline namespace
}  // namespace specsample

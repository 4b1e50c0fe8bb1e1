// What a drafter fills: tokens, the node before each, and the distribution each was drawn from.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/row.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/tree.hpp>

namespace specsample {

/// A draft in the making, and its memory, reused from round to round.
///
///     Index node = root_node;
///     while (draft_tree.grows(node)) node = draft_tree.add(node, token, distribution);
///
/// @tparam L   the distribution of its nodes. Where they differ, Mixed; where they are drawn with the target's noise,
/// SharedNoise
template <DraftDistribution L>
class DraftTree {
  public:
    /// Begin a new draft.
    /// @param depth         most tokens on a path
    /// @param stop_tokens   nothing follows these; borrowed until the next draft
    /// @param vocab         ids that the target is known to have
    void open(Index depth, ListRef<Token> stop_tokens, Index vocab) {
        depth_ = depth;
        stop_tokens_ = stop_tokens;
        vocab_ = vocab;
        fault_.reset();
        tokens_.clear();
        parents_.clear();
        depths_.clear();
        distributions_.clear();
    }

    /// Most tokens on a path.
    Index depth_limit() const { return depth_; }

    /// May a node have children: is it above the depth limit, no stop token, and nothing bad met so far? A stop token
    /// is kept in the draft, and its drafter stops after it: dropping it would be a choice by its own identity.
    bool grows(Index node) const {
        if (fault_) return false;
        return node == root_node ? depth_ > 0 : depth(node) < depth_ && !is_stop(token(node));
    }

    /// Add a child after the last child of `parent`.
    /// @param id    of any integral type
    /// @returns     the new node. An id that the target cannot have is a fault instead, and the parent comes back
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
        depths_.push_back(parent == root_node ? 1 : depth(parent) + 1);
        distributions_.push_back(distribution);
        return size() - 1;
    }

    /// Bad data met while drafting; the first is kept, and nothing grows after it.
    void blame(const RowFault& fault) {
        if (!fault_) fault_ = fault;
    }
    const std::optional<RowFault>& fault() const { return fault_; }

    Index size() const { return static_cast<Index>(tokens_.size()); }
    Token token(Index node) const { return tokens_[static_cast<std::size_t>(node)]; }
    Index parent(Index node) const { return parents_[static_cast<std::size_t>(node)]; }
    /// Tokens on the path to a node, itself included.
    Index depth(Index node) const { return node == root_node ? 0 : depths_[static_cast<std::size_t>(node)]; }
    std::span<const Token> stop_tokens() const { return stop_tokens_; }
    bool is_stop(Token token) const { return std::ranges::find(stop_tokens_, token) != stop_tokens_.end(); }

    std::span<const Token> tokens() const { return tokens_; }
    const std::vector<L>& distributions() const { return distributions_; }
    Tree<Token, Index> view() const { return {tokens_, parents_}; }

    /// Write the tokens on the path to a node behind `text`.
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
    std::vector<Index> depths_;
    std::vector<L> distributions_;
};

}  // namespace specsample

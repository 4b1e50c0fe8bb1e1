// A drafter of trees from several heads: the most probable tokens of each head, combined by a tree shape.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/heads.hpp>
#include <specsample/tree/tree_shape.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace heads {

/// Drafts a tree in which each node takes the token of its rank in the row of its depth: all combinations of the heads'
/// most probable tokens (expansion_tree), or the best combinations (sparse_tree). The tokens are point masses. A tree
/// of 8 nodes:
///
///     Sampler sampler(heads::HeadsTreeDrafter(heads_model, expansion_tree({2, 3})), target, {.lookahead = 2});
///
/// @tparam Heads   a HeadsModel
/// @draws          none
/// @cost           one call of the heads, and one pass per row
/// @throws         std::invalid_argument from propose, if heads(prefix) does not return one row per level of the shape
/// @edge           if a row has fewer tokens than the shape has ranks, the nodes of the missing ranks and all nodes
///                 below them are left out; so are a token outside the target's vocabulary and all nodes below it
/// @source         Cai et al.: "Medusa" (arXiv:2401.10774), section 2.1.2, tree attention
template <HeadsModel Heads>
class HeadsTreeDrafter {
  public:
    using Distribution = PointMass;

    /// @throws std::invalid_argument for an empty shape
    HeadsTreeDrafter(Heads heads, TreeShape shape)
        : rows_(std::move(heads), shape.depth()),
          shape_(std::move(shape)),
          top_(static_cast<std::size_t>(shape_.depth())) {
        detail::require(shape_.size() >= 1, "HeadsTreeDrafter", "the number of nodes", shape_.size(), "at least 1");
        for (Index node = root_node; node < shape_.size(); ++node)
            if (const Index most = shape_.candidates(node); most > std::ssize(top_at(shape_.depth(node))))
                top_at(shape_.depth(node)).resize(static_cast<std::size_t>(most));
        added_.resize(static_cast<std::size_t>(shape_.size()));
    }

    Index depth() const { return shape_.depth(); }

    template <class Source, class L>
        requires std::convertible_to<Distribution, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        if (!draft_tree.grows(root_node)) return;
        context_.assign(prefix.begin(), prefix.end());
        rows_.ask_about(context_, "HeadsTreeDrafter");
        found_.assign(top_.size(), -1);
        for (Index node = 0; node < shape_.size(); ++node)
            added_[static_cast<std::size_t>(node)] = add(node, draft_tree);
    }

  private:
    std::vector<Token>& top_at(Index depth) {
        return top_[static_cast<std::size_t>(std::min(depth, std::ssize(top_) - 1))];
    }

    /// Add a node of the shape.
    /// @returns   its number in the draft tree; no_node if it is left out
    template <class L>
    Index add(Index node, DraftTree<L>& draft_tree) {
        const Index above = shape_.parent(node);
        const Index parent = above == root_node ? root_node : added_[static_cast<std::size_t>(above)];
        if ((above != root_node && parent == no_node) || !draft_tree.grows(parent)) return no_node;
        const Index depth = shape_.depth(above);
        std::vector<Token>& top = top_at(depth);
        Index& found = found_[static_cast<std::size_t>(depth)];
        if (found < 0) found = rows_.top_ids(depth, top);
        if (shape_.rank(node) >= found) return no_node;
        return draft_tree.add(parent, top[static_cast<std::size_t>(shape_.rank(node))], PointMass{});
    }

    detail::HeadRows<Heads> rows_;
    TreeShape shape_;
    std::vector<std::vector<Token>> top_;  ///< the likeliest ids of each row, as many as the shape takes
    std::vector<Index> found_;             ///< how many ids were found in each row, -1 if it was not searched yet
    std::vector<Index> added_;             ///< by node of the shape, its number in the draft tree
    std::vector<Token> context_;
};

}  // namespace heads

}}  // namespace specsample

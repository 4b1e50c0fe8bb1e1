// Tree shapes that are fixed before anything is drafted: the parent of each node, and the rank of its token.
//
//   TreeShape                  parents and ranks
//   expansion_tree(branching)  branching[d] children at every node of depth d
//   tree_of_paths(paths)       a node for each path of ranks in a list, as in Medusa's choices
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>
#include <specsample/tree/links.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
/// The shape of a draft tree, as a value. Node i follows node parent(i), or the prefix if that is -1. Its token is the
/// candidate of rank(i) in the row after its parent; rank 0 is the likeliest candidate.
///
///     parents {-1, -1, 0, 0, 1}, ranks {0, 1, 0, 2, 0}    two tokens; two more after the first, one after the second
///
/// Nodes are in breadth-first order: level by level, within a level by parent, then by rank. So the children of a node
/// are adjacent, and (parent, rank) rises from node to node.
class TreeShape {
  public:
    /// Make the empty shape: nothing is drafted, which is plain decoding.
    TreeShape() = default;

    /// @throws std::invalid_argument if the sizes differ, and naming the first node whose parent is not -1 or an
    ///         earlier node, whose rank is negative, above most_drafted or not above its elder sibling's, or that is
    ///         out of order
    /// @cost   O(nodes), as for a copy
    TreeShape(std::vector<Index> parents, std::vector<Index> ranks)
        : parents_(std::move(parents)), ranks_(std::move(ranks)) {
        if (ranks_.size() != parents_.size())
            detail::invalid("TreeShape", "the number of ranks", ranks_.size(),
                            "that of parents, " + detail::to_text(parents_.size()));
        for (Index node = 0; node < size(); ++node) {
            const Index above = detail::parent_of("TreeShape", this->parents(), node);
            check_order(node);
            links_.add(above);
        }
    }

    /// Refuse a single list, with a sentence that says what to write.
    template <class Number = Index>
    TreeShape(const std::vector<Number>&) {
        static_assert(!sizeof(Number),
                      "specsample::TreeShape: a shape has two lists, parents and ranks; for numbers of children by "
                      "depth write expansion_tree({2, 2}), for paths of ranks tree_of_paths({{0}, {0, 1}})");
    }

    Index size() const { return static_cast<Index>(parents_.size()); }
    /// Return the number of nodes on the longest path.
    Index depth() const { return links_.depth(); }

    Index parent(Index node) const { return parents_[static_cast<std::size_t>(node)]; }
    Index rank(Index node) const { return ranks_[static_cast<std::size_t>(node)]; }
    /// Return the number of nodes on the path to a node, the node included; 0 for the prefix.
    Index depth(Index node) const { return links_.depth(node); }

    Index first_child(Index node) const { return links_.first_child(node); }
    Index next_sibling(Index node) const { return links_.next_sibling(node); }
    Index child_count(Index node) const {
        return links_.last_child(node) - links_.first_child(node) + (is_leaf(node) ? 0 : 1);
    }
    /// Return how many candidates the row after a node must give: the largest rank among the node's children, plus 1.
    Index candidates(Index node) const { return is_leaf(node) ? 0 : rank(links_.last_child(node)) + 1; }

    std::span<const Index> parents() const { return parents_; }
    std::span<const Index> ranks() const { return ranks_; }

    friend bool operator==(const TreeShape& a, const TreeShape& b) {
        return a.parents_ == b.parents_ && a.ranks_ == b.ranks_;
    }

  private:
    void check_order(Index node) const {
        detail::require_length("TreeShape", name("ranks", node), rank(node), 0);
        if (node == 0 || std::pair(parent(node - 1), rank(node - 1)) < std::pair(parent(node), rank(node))) return;
        if (parent(node) < parent(node - 1))
            detail::invalid("TreeShape", name("parents", node), parent(node),
                            name("parents", node - 1) + " or more: nodes are in breadth-first order");
        detail::invalid("TreeShape", name("ranks", node), rank(node),
                        "above " + name("ranks", node - 1) + ", a sibling's");
    }
    static std::string name(const char* list, Index node) {
        return std::string(list) + '[' + detail::to_text(node) + ']';
    }

    bool is_leaf(Index node) const { return first_child(node) == no_node; }

    std::vector<Index> parents_;
    std::vector<Index> ranks_;
    detail::Links links_;
};

/// Make the full tree: every node of depth d has branching[d] children, of ranks 0, 1 .., and the prefix is at depth 0.
///
///     sum over d of branching[0] .. branching[d] nodes, branching[0] .. branching[last] leaves
///
/// @throws std::invalid_argument for a branching below 1, and for more than most_drafted nodes
/// @edge   no branching at all: the empty shape
/// @source the expansion configuration of SpecInfer, arXiv:2305.09781; with the top branching[d] candidates of head d,
///         the Cartesian product of Medusa's tree attention, arXiv:2401.10774
[[nodiscard]] inline TreeShape expansion_tree(const std::vector<Index>& branching) {
    std::vector<Index> parents, ranks;
    Index begin = root_node, end = 0;  // the level above
    for (const Index count : branching) {
        detail::require_length("expansion_tree", "a branching", count, 1);
        detail::require_length("expansion_tree", "the number of nodes", end + (end - begin) * count, 1);
        for (Index parent = begin; parent < end; ++parent)
            for (Index rank = 0; rank < count; ++rank) {
                parents.push_back(parent);
                ranks.push_back(rank);
            }
        begin = std::exchange(end, static_cast<Index>(parents.size()));
    }
    return {std::move(parents), std::move(ranks)};
}

/// Make the shape with one node per path of ranks, as in a list of `medusa_choices`.
///
///     tree_of_paths({{0}, {0, 0}, {1}, {0, 1}})    parents {-1, -1, 0, 0}, ranks {0, 1, 0, 1}
///
/// The paths may be in any order. Every prefix of a path must be listed as well, so that there are as many nodes as
/// paths. Nodes are numbered as in Medusa, by length, then by ranks, but from 0: Medusa gives 0 to the root token.
///
/// @throws std::invalid_argument naming the path that is empty, that is listed twice, that has a negative rank, or
///         whose prefix is missing
/// @cost   O(n log n) comparisons of paths
template <detail::Integer Rank = Index>
[[nodiscard]] TreeShape tree_of_paths(std::vector<std::vector<Rank>> paths) {
    constexpr auto where = "tree_of_paths";
    constexpr auto precedes = [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    };
    const auto name = [](const auto& path) {
        std::string text = "path {";
        for (const Rank rank : path) text += (text.back() == '{' ? "" : ", ") + detail::to_text(rank);
        return text + "}";
    };
    std::ranges::sort(paths, precedes);
    std::vector<Index> parents, ranks;
    for (auto path = paths.begin(); path != paths.end(); ++path) {
        detail::require(!path->empty(), where, "a path", "empty", "one rank or more");
        if (std::cmp_less(path->back(), 0)) detail::invalid(where, name(*path), "negative", "of ranks of at least 0");
        if (path != paths.begin() && *path == path[-1])
            detail::invalid(where, name(*path), "there twice", "there once");
        const std::vector<Rank> above(path->begin(), path->end() - 1);
        const auto parent = std::lower_bound(paths.begin(), path, above, precedes);
        if (!above.empty() && *parent != above)
            detail::invalid(where, name(above), "missing", "listed: others extend it");
        parents.push_back(above.empty() ? root_node : parent - paths.begin());
        ranks.push_back(static_cast<Index>(path->back()));
    }
    return {std::move(parents), std::move(ranks)};
}

}}  // namespace specsample

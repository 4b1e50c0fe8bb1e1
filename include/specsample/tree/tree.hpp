// The shape of a drafted tree: links from each node to its parent, first child and next sibling.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>
#include <specsample/core/tree.hpp>  // IWYU pragma: export
#include <specsample/tree/chain.hpp>

namespace specsample::inline SPECSAMPLE_ABI {

namespace detail {

/// The shape of a tree as links between its nodes. Its memory is reused from tree to tree.
class Links {
  public:
    /// Link the nodes of a list of parents.
    /// @throws std::invalid_argument naming the first parent that is not -1 or an earlier node
    /// @cost   O(K); allocates only for more nodes than ever before
    template <Integer Parent>
    void connect(std::span<const Parent> parents) {
        const auto size = static_cast<Index>(parents.size());
        nodes_.assign(parents.size() + 1, Node{});
        for (Index node = size - 1; node >= 0; --node) {
            const Parent parent = parents[static_cast<std::size_t>(node)];
            if (std::cmp_less(parent, root_node) || std::cmp_greater_equal(parent, node))
                detail::invalid("Tree", "parents[" + detail::to_text(node) + "]", parent,
                                "-1 or a node before " + detail::to_text(node));
            at(node).parent = static_cast<Index>(parent);
            at(node).next_sibling = std::exchange(at(at(node).parent).first_child, node);
        }
        depth_ = 0;
        for (Index node = 0; node < size; ++node) {
            at(node).depth = at(at(node).parent).depth + 1;
            depth_ = std::max(depth_, at(node).depth);
        }
    }

    Index size() const { return static_cast<Index>(nodes_.size()) - 1; }
    Index depth() const { return depth_; }
    Index parent(Index node) const { return at(node).parent; }
    Index first_child(Index node) const { return at(node).first_child; }
    Index next_sibling(Index node) const { return at(node).next_sibling; }

  private:
    struct Node {
        Index parent = root_node;
        Index first_child = no_node;
        Index next_sibling = no_node;
        Index depth = 0;
    };

    Node& at(Index node) { return nodes_[static_cast<std::size_t>(node + 1)]; }
    const Node& at(Index node) const { return nodes_[static_cast<std::size_t>(node + 1)]; }

    std::vector<Node> nodes_ = std::vector<Node>(1);  // the root first
    Index depth_ = 0;
};
}  // namespace detail

}  // namespace specsample

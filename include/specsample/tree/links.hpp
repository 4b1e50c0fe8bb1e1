// The links between the nodes of a draft: from each node to its parent, first child and next sibling.
//
// Drafted nodes are numbered 0 .. size-1, and the root, the prefix itself, is -1. A rule asks for the first child of a
// node and for the next sibling of a child; -1 stands for none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row_kinds.hpp>
#include <specsample/core/tree.hpp>  // IWYU pragma: export

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the message for a parent that is neither -1 nor an earlier node; empty for a good parent.
/// @param where   the caller, in the message
template <Integer Parent>
std::string refusal_of_parent(std::string_view where, Parent parent, Index node) {
    if (std::cmp_greater_equal(parent, root_node) && std::cmp_less(parent, node)) return {};
    return refusal(where, "parents[" + to_text(node) + "]", parent, "-1 or a node before " + to_text(node));
}

/// Read parents[node].
/// @throws std::invalid_argument unless it is -1 or an earlier node
template <Integer Parent>
Index parent_of(std::string_view where, std::span<const Parent> parents, Index node) {
    const Parent parent = parents[static_cast<std::size_t>(node)];
    if (const std::string refused = refusal_of_parent(where, parent, node); !refused.empty())
        raise(std::invalid_argument(refused));
    return static_cast<Index>(parent);
}

/// The shape of a draft. A chain is stored as its number of nodes alone; links are made once a node gets a sibling. The
/// memory is reused from draft to draft.
class Links {
  public:
    /// Become the chain of `size` nodes, each the only child of its predecessor.
    /// @cost   O(1), no allocation
    void become_chain(Index size) {
        size_ = depth_ = size;
        is_chain_ = true;
    }

    /// Allocate now what a tree of `size` nodes needs.
    void reserve(Index size) { nodes_.reserve(static_cast<std::size_t>(size) + 1); }

    /// Become the tree of a list of parents.
    /// @throws std::invalid_argument naming the first parent that is not -1 or an earlier node
    /// @cost   O(K); allocates only for more nodes than ever before
    template <Integer Parent>
    void connect(std::span<const Parent> parents) {
        become_chain(0);
        for (Index node = 0; node < std::ssize(parents); ++node) add(parent_of("Tree", parents, node));
    }

    /// Add a node after the last child of `parent`.
    /// @pre    parent is the root or a node
    void add(Index parent) {
        if (is_chain_ && parent == size_ - 1) {
            depth_ = ++size_;
        } else {
            if (is_chain_) link_chain();
            link(parent);
        }
    }

    Index size() const { return size_; }
    bool is_chain() const { return is_chain_; }
    /// Return the number of nodes on the longest path.
    Index depth() const { return depth_; }
    /// Return the number of nodes on the path to a node, the node included; 0 for the root.
    Index depth(Index node) const { return is_chain_ ? node + 1 : at(node).depth; }
    Index parent(Index node) const { return is_chain_ ? node - 1 : at(node).parent; }
    Index first_child(Index node) const {
        if (is_chain_) return node + 1 < size_ ? node + 1 : no_node;
        return at(node).first_child;
    }
    Index last_child(Index node) const { return is_chain_ ? first_child(node) : at(node).last_child; }
    Index next_sibling(Index node) const { return is_chain_ ? no_node : at(node).next_sibling; }

  private:
    struct Node {
        Index parent = root_node;
        Index first_child = no_node;
        Index last_child = no_node;
        Index next_sibling = no_node;
        Index depth = 0;
    };

    Node& at(Index node) { return nodes_[static_cast<std::size_t>(node + 1)]; }
    const Node& at(Index node) const { return nodes_[static_cast<std::size_t>(node + 1)]; }

    void link(Index parent) {
        const Index node = size_++;
        nodes_.push_back({.parent = parent, .depth = at(parent).depth + 1});
        if (depth_ < at(node).depth) depth_ = at(node).depth;
        const Index elder = std::exchange(at(parent).last_child, node);
        (elder == no_node ? at(parent).first_child : at(elder).next_sibling) = node;
    }

    void link_chain() {
        nodes_.assign(1, Node());
        is_chain_ = false;
        for (const Index size = std::exchange(size_, 0); size_ < size;) link(size_ - 1);
    }

    Index size_ = 0;
    Index depth_ = 0;
    bool is_chain_ = true;
    std::vector<Node> nodes_;  ///< the root first; unused by a chain
};

}}}  // namespace specsample::detail

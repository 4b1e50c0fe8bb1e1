// The shape of a draft, as rules see it: the children of each node, in the order in which they were drafted.
//
// Drafted nodes are numbered 0 .. size-1, and the root, the prefix itself, is -1. A rule asks for the first child of a
// node and for the next sibling of a child; -1 stands for none.
#pragma once

#include <concepts>

#include <specsample/core/tree.hpp>
#include <specsample/core/types.hpp>

namespace specsample::inline SPECSAMPLE_ABI {

namespace detail {

/// The links between the nodes of a draft.
template <class S>
concept Shape = requires(const S& shape, Index node) {
    { shape.size() } -> std::convertible_to<Index>;
    { shape.depth() } -> std::convertible_to<Index>;  // nodes on the longest path
    { shape.parent(node) } -> std::convertible_to<Index>;
    { shape.first_child(node) } -> std::convertible_to<Index>;
    { shape.next_sibling(node) } -> std::convertible_to<Index>;
};

/// The shape of a draft without branches: a tree with one child per node.
class Chain {
  public:
    explicit Chain(Index size) : size_(size) {}

    Index size() const { return size_; }
    Index depth() const { return size_; }
    static Index parent(Index node) { return node - 1; }
    Index first_child(Index node) const { return node + 1 < size_ ? node + 1 : no_node; }
    static Index next_sibling(Index) { return no_node; }

  private:
    Index size_;
};
}  // namespace detail

}  // namespace specsample

// The shape of a draft, as the walks see it. A chain is the tree with one child per node.
//
// Drafted nodes are numbered in preorder, 0 .. size-1, with the root (the prefix itself) before them. A walk needs
// one thing: where the subtree of a node ends. The first child of a node is the next number, a rejected node's next
// sibling is the end of its subtree.
#pragma once

#include <specsample/core/types.hpp>

namespace specsample {

/// `size` drafted tokens, each continuing the one before.
struct Chain {
    Index size = 0;

    Index subtree_end(Index) const { return size; }
};

}  // namespace specsample

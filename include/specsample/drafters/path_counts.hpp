// Numbers at the nodes of a forest, and additions to all nodes from one up to its root.
//
// Sleator, Tarjan: "Self-adjusting binary search trees", Journal of the ACM 32 (1985), section 6: link-cut trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A count per node of a forest that changes. `add` counts for a node and all nodes above it, however many they are.
///
/// The forest is cut into paths, and the nodes of a path are kept in a splay tree, ordered by their depth. An entry has
/// the count of its node less the count of the entry above it in the splay tree, so that adding to the entry at the top
/// adds to the whole path.
///
/// @cost   O(log nodes) per call, amortised; O(1) along a path that was the last to be used. Memory: 16 bytes per node
class PathCounts {
  public:
    using Node = std::int32_t;  ///< the number of a node
    static constexpr Node none = -1;

    Index size() const { return std::ssize(entries_); }

    /// Make room for more nodes.
    void make_room(std::size_t nodes) { entries_.reserve(entries_.size() + nodes); }
    /// Add a node without parent.
    void push_back(std::int32_t count) { entries_.push_back({.count = count}); }
    /// Remove the newest node, which must have no children.
    void pop_back() {
        cut(static_cast<Node>(entries_.size() - 1));
        entries_.pop_back();
    }

    /// Give a node another parent, or none. The counts stay as they are.
    void move(Node node, Node parent) {
        cut(node);
        at(node).parent = parent;
    }
    /// Add to the counts of a node and of all nodes above it.
    void add(Node node, std::int32_t by) {
        if (has_short_way(node)) {
            for (; node != none; node = at(node).parent) at(node).count += by;
        } else {
            expose(node);
            at(node).count += by;
        }
    }
    std::int32_t count(Node node) {
        splay(node);
        return at(node).count;
    }

  private:
    struct Entry {
        Node parent = none;  ///< in the splay tree; at its top, the parent in the forest of the path's uppermost node
        Node upper = none;   ///< the child in the splay tree that is less deep
        Node lower = none;   ///< the child that is deeper
        std::int32_t count = 0;  ///< less that of the parent in the splay tree
    };

    Entry& at(Node node) { return entries_[static_cast<std::size_t>(node)]; }

    bool is_top(Node node) {
        const Node parent = at(node).parent;
        return parent == none || (at(parent).upper != node && at(parent).lower != node);
    }

    /// Tell whether few nodes lead to the root, each a path of its own: then adding to each is faster.
    bool has_short_way(Node node) {
        for (int steps = 0; node != none; node = at(node).parent)
            if (++steps > 32 || at(node).upper != none || at(node).lower != none || !is_top(node)) return false;
        return true;
    }

    /// Exchange a node with its parent in the splay tree.
    void rotate(Node node) {
        const Node parent = at(node).parent;
        const bool is_upper = at(parent).upper == node;
        Node& inner = is_upper ? at(node).lower : at(node).upper;
        (is_upper ? at(parent).upper : at(parent).lower) = inner;
        const std::int32_t step = at(node).count;
        if (inner != none) {
            at(inner).parent = parent;
            at(inner).count += step;
        }
        inner = parent;
        at(node).count += at(parent).count;
        at(parent).count = -step;
        if (!is_top(parent)) {
            Entry& above = at(at(parent).parent);
            (above.upper == parent ? above.upper : above.lower) = node;
        }
        at(node).parent = at(parent).parent;
        at(parent).parent = node;
    }

    /// Bring a node to the top of its splay tree.
    void splay(Node node) {
        while (!is_top(node)) {
            const Node parent = at(node).parent;
            if (!is_top(parent)) {
                const bool is_line = (at(at(parent).parent).upper == parent) == (at(parent).upper == node);
                rotate(is_line ? parent : node);
            }
            rotate(node);
        }
    }

    /// Make the nodes from a root down to `node` one path, and bring `node` to its top.
    void expose(Node node) {
        Node below = none;
        for (Node top = node; top != none; top = at(top).parent) {
            splay(top);
            if (at(top).lower != none) at(at(top).lower).count += at(top).count;
            if (below != none) at(below).count -= at(top).count;
            at(top).lower = below;
            below = top;
        }
        splay(node);
    }

    /// Make a node the root of its tree.
    void cut(Node node) {
        splay(node);
        const Node parent = std::exchange(at(node).parent, none);
        const Node upper = std::exchange(at(node).upper, none);
        if (upper == none) return;
        at(upper).parent = parent;
        at(upper).count += at(node).count;
    }

    std::vector<Entry> entries_;
};

}}}  // namespace specsample::detail

// Counts along the paths of a forest, against a loop over each path.
#include <specsample/drafters/path_counts.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace specsample;

namespace {

using Node = detail::PathCounts::Node;
constexpr Node none = detail::PathCounts::none;

/// The same by loops.
struct Loops {
    std::vector<Node> parents{};
    std::vector<std::int32_t> counts{};

    void add(Node node, std::int32_t by) {
        for (; node != none; node = parents[static_cast<std::size_t>(node)])
            counts[static_cast<std::size_t>(node)] += by;
    }
    bool is_below(Node node, Node above) const {
        while (node != none && node != above) node = parents[static_cast<std::size_t>(node)];
        return node == above;
    }
    bool has_children(Node node) const {
        for (const Node parent : parents)
            if (parent == node) return true;
        return false;
    }
};

}  // namespace

TEST_CASE("adding along paths of a forest that changes is adding to each of their nodes") {
    Index longest = 0, removed = 0, moved = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        texts::Dice dice{seed};
        detail::PathCounts counts;
        Loops loops;
        const auto any = [&] { return static_cast<Node>(dice(std::ssize(loops.parents))); };
        for (int step = 0; step < 600; ++step) {
            const auto newest = static_cast<Node>(std::ssize(loops.parents) - 1);
            const Index kind = dice(10);
            if (newest < 0 || kind < 3) {
                // Mostly chains, so that there are paths of both kinds: of few nodes and of many.
                const Node parent = newest < 0 || dice(30) == 0 ? none : dice(40) == 0 ? any() : newest;
                const auto count = static_cast<std::int32_t>(dice(5));
                counts.push_back(count);
                counts.move(newest + 1, parent);
                loops.parents.push_back(parent);
                loops.counts.push_back(count);
            } else if (kind == 3) {
                const Node node = any(), parent = dice(4) == 0 ? none : any();
                if (dice(5) != 0) continue;  // seldom, or all paths would be short
                if (parent != none && loops.is_below(parent, node)) continue;
                counts.move(node, parent);
                loops.parents[static_cast<std::size_t>(node)] = parent;
                ++moved;
            } else if (kind == 4 && dice(2) == 0) {
                if (loops.has_children(newest)) continue;
                counts.pop_back();
                loops.parents.pop_back();
                loops.counts.pop_back();
                ++removed;
            } else if (kind < 8) {
                const Node node = any();
                const std::int32_t by = dice(3) == 0 ? -2 : 1;
                counts.add(node, by);
                loops.add(node, by);
            } else {
                const Node node = any();
                INFO("seed " << seed << ", step " << step << ", node " << node);
                REQUIRE(counts.count(node) == loops.counts[static_cast<std::size_t>(node)]);
            }
            REQUIRE(counts.size() == std::ssize(loops.parents));
        }
        for (Node node = 0; node < counts.size(); ++node) {
            REQUIRE(counts.count(node) == loops.counts[static_cast<std::size_t>(node)]);
            Index depth = 0;
            for (Node at = node; at != none; at = loops.parents[static_cast<std::size_t>(at)]) ++depth;
            longest = std::max(longest, depth);
        }
    }
    CHECK(longest > 64);
    CHECK(removed > 100);
    CHECK(moved > 150);
}

TEST_CASE("adding along a path of a million nodes takes no longer than along a short one") {
    constexpr Node size = 1 << 20;
    detail::PathCounts counts;
    for (Node node = 0; node < size; ++node) {
        counts.push_back(0);
        counts.move(node, node - 1);
        counts.add(node, 1);  // by a loop over the path this would be 5e11 steps
    }
    CHECK(counts.count(0) == size);
    CHECK(counts.count(size / 2) == size / 2);
    CHECK(counts.count(size - 1) == 1);
}

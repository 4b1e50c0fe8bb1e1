// Shapes of draft trees: their queries against walks along parents, their makers against lists of paths.
#include <specsample/tree/tree_shape.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include <specsample/tree/links.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

using Path = std::vector<Index>;

/// The ranks from the prefix to a node.
Path rank_path(const TreeShape& shape, Index node) {
    Path path;
    for (; node != root_node; node = shape.parent(node)) path.insert(path.begin(), shape.rank(node));
    return path;
}

std::vector<Path> rank_paths(const TreeShape& shape) {
    std::vector<Path> paths;
    for (Index node = 0; node < shape.size(); ++node) paths.push_back(rank_path(shape, node));
    return paths;
}

template <class S>
std::vector<Index> children(const S& shape, Index node) {
    std::vector<Index> result;
    for (Index child = shape.first_child(node); child != no_node; child = shape.next_sibling(child))
        result.push_back(child);
    return result;
}

/// Random paths closed under prefixes: each extends an earlier path by one rank, with gaps between ranks.
std::vector<Path> random_paths(std::size_t count, std::mt19937& random) {
    std::set<Path> found;
    std::vector<Path> paths;
    while (paths.size() < count) {
        const std::size_t parent = random() % (paths.size() + 1);
        Path path = parent == paths.size() ? Path{} : paths[parent];
        path.push_back(static_cast<Index>(random() % 7));
        if (found.insert(path).second) paths.push_back(path);
    }
    return paths;
}

}  // namespace

TEST_CASE("a shape answers what a drafter asks of it", "[tree]") {
    const TreeShape shape({-1, -1, 0, 0, 1}, {0, 1, 0, 2, 0});
    CHECK(shape.size() == 5);
    CHECK(shape.depth() == 2);
    CHECK(children(shape, root_node) == std::vector<Index>{0, 1});
    CHECK(children(shape, 0) == std::vector<Index>{2, 3});
    CHECK(children(shape, 1) == std::vector<Index>{4});
    CHECK(shape.child_count(root_node) == 2);
    CHECK(shape.child_count(0) == 2);
    CHECK(shape.child_count(4) == 0);
    CHECK(shape.candidates(root_node) == 2);
    CHECK(shape.candidates(0) == 3);  // rank 1 is left out, and has to be found all the same
    CHECK(shape.candidates(1) == 1);
    CHECK(shape.candidates(2) == 0);
    CHECK(rank_paths(shape) == std::vector<Path>{{0}, {1}, {0, 0}, {0, 2}, {1, 0}});
    CHECK(shape.depth(root_node) == 0);
    CHECK(shape.depth(1) == 1);
    CHECK(shape.depth(4) == 2);
    CHECK(shape != TreeShape({-1, -1, 0, 0, 1}, {0, 1, 0, 1, 0}));
}

TEST_CASE("a shape without nodes is plain decoding", "[tree]") {
    for (const TreeShape& shape :
         {TreeShape{}, TreeShape({}, {}), expansion_tree({}), expansion_tree({}), tree_of_paths({})}) {
        CHECK(shape == TreeShape{});
        CHECK(shape.size() == 0);
        CHECK(shape.depth() == 0);
        CHECK(shape.first_child(root_node) == no_node);
        CHECK(shape.child_count(root_node) == 0);
        CHECK(shape.candidates(root_node) == 0);
    }
}

TEST_CASE("the queries of random shapes agree with walks along their parents", "[tree]") {
    std::mt19937 random(1);
    for (std::size_t size = 1; size < 60; ++size) {
        const TreeShape shape = tree_of_paths(random_paths(size, random));
        detail::Links links;
        links.connect(shape.parents());
        CAPTURE(size);
        REQUIRE(shape.size() == static_cast<Index>(size));
        REQUIRE(shape.depth() == links.depth());
        for (Index node = root_node; node < shape.size(); ++node) {
            Index count = 0, candidates = 0;
            for (Index child = 0; child < shape.size(); ++child) {
                if (shape.parent(child) != node) continue;
                ++count;
                candidates = std::max(candidates, shape.rank(child) + 1);
            }
            REQUIRE(shape.child_count(node) == count);
            REQUIRE(shape.candidates(node) == candidates);
            REQUIRE(children(shape, node) == children(links, node));
            REQUIRE(shape.depth(node) == static_cast<Index>(rank_path(shape, node).size()));
        }
    }
}

TEST_CASE("a chain tree is a chain of likeliest tokens", "[tree]") {
    const TreeShape shape = expansion_tree({1, 1, 1, 1, 1});
    detail::Links chain;
    chain.become_chain(5);
    CHECK(shape.size() == chain.size());
    CHECK(shape.depth() == chain.depth());
    for (Index node = root_node; node < 5; ++node) CHECK(children(shape, node) == children(chain, node));
    for (Index node = 0; node < 5; ++node) {
        CHECK(shape.parent(node) == chain.parent(node));
        CHECK(shape.rank(node) == 0);
    }
    CHECK(shape == expansion_tree({1, 1, 1, 1, 1}));
}

TEST_CASE("an expansion has the nodes and leaves of a Cartesian product", "[tree]") {
    const auto leaves = [](const TreeShape& shape) {
        Index count = 0;
        for (Index node = 0; node < shape.size(); ++node) count += shape.child_count(node) == 0;
        return count;
    };
    CHECK(expansion_tree({2, 3}).size() == 8);
    CHECK(leaves(expansion_tree({2, 3})) == 6);
    CHECK(expansion_tree({5, 4, 3}).size() == 85);
    CHECK(leaves(expansion_tree({5, 4, 3})) == 60);
    CHECK(expansion_tree({1, 1, 3, 1, 1}).size() == 11);  // SpecInfer's <1, 1, 3, 1, 1>
    CHECK(expansion_tree({4}).size() == 4);

    std::vector<Path> product;
    for (Index i = 0; i < 2; ++i) product.push_back({i});
    for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 3; ++j) product.push_back({i, j});
    for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 3; ++j)
            for (Index k = 0; k < 2; ++k) product.push_back({i, j, k});
    CHECK(rank_paths(expansion_tree({2, 3, 2})) == product);
}

TEST_CASE("a list of paths is a tree with one node per path, whatever its order", "[tree]") {
    CHECK(tree_of_paths({{0}, {0, 0}, {1}, {0, 1}}) == TreeShape({-1, -1, 0, 0}, {0, 1, 0, 1}));
    CHECK(tree_of_paths({{0, 1}, {1}, {0, 0}, {0}}) == TreeShape({-1, -1, 0, 0}, {0, 1, 0, 1}));
    CHECK(tree_of_paths({{3}}) == TreeShape({-1}, {3}));
    CHECK(tree_of_paths(std::vector<std::vector<std::uint8_t>>{{0}, {0, 200}}) == TreeShape({-1, 0}, {0, 200}));

    std::mt19937 random(2);
    for (std::size_t size = 1; size < 60; ++size) {
        std::vector<Path> paths = random_paths(size, random);
        std::ranges::shuffle(paths, random);
        const TreeShape shape = tree_of_paths(paths);
        // the order that Medusa gives its nodes: sorted(choices, key = (len, ranks))
        std::ranges::stable_sort(paths);
        std::ranges::stable_sort(paths, {}, &Path::size);
        REQUIRE(rank_paths(shape) == paths);
    }
}

TEST_CASE("choices of Medusa are numbered as it numbers them", "[tree]") {
    // The first nodes of its 63-node tree for 7B models, in the order in which they are listed there.
    const TreeShape shape = tree_of_paths({{0}, {0, 0}, {1}, {0, 1}, {2}, {0, 0, 0}, {1, 0}, {0, 2}, {3}, {0, 3}, {4}});
    CHECK(shape.size() == 11);
    CHECK(shape.depth() == 3);
    const std::vector<Index> parents{-1, -1, -1, -1, -1, 0, 0, 0, 0, 1, 5}, ranks{0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0};
    CHECK(shape == TreeShape(parents, ranks));
}

TEST_CASE("parents and ranks that are no tree in breadth-first order are refused by name", "[tree]") {
    const auto make = [](std::vector<Index> parents, std::vector<Index> ranks) {
        return TreeShape(std::move(parents), std::move(ranks));
    };
    CHECK_THROWS_AS(make({0}, {0}), std::invalid_argument);
    CHECK_THROWS_WITH(make({-1, 2, 1}, {0, 0, 0}),  // a cycle
                      "specsample::TreeShape: parents[1] is 2, but must be -1 or a node before 1");
    CHECK_THROWS_WITH(make({-1, 0, 2}, {0, 0, 0}),
                      "specsample::TreeShape: parents[2] is 2, but must be -1 or a node before 2");
    CHECK_THROWS_WITH(make({1, -1}, {0, 0}),  // a parent after its child
                      "specsample::TreeShape: parents[0] is 1, but must be -1 or a node before 0");
    CHECK_THROWS_WITH(make({-2}, {0}), "specsample::TreeShape: parents[0] is -2, but must be -1 or a node before 0");
    CHECK_THROWS_WITH(make({-1, 0}, {0, -1}), "specsample::TreeShape: ranks[1] is -1, but must be at least 0");
    CHECK_THROWS_WITH(make({-1, -1}, {1, 1}),
                      "specsample::TreeShape: ranks[1] is 1, but must be above ranks[0], a sibling's");
    CHECK_THROWS_WITH(make({-1, -1}, {1, 0}),
                      "specsample::TreeShape: ranks[1] is 0, but must be above ranks[0], a sibling's");
    CHECK_THROWS_WITH(make({-1, 0, -1}, {0, 0, 1}),
                      "specsample::TreeShape: parents[2] is -1, but must be parents[1] or more: nodes are in "
                      "breadth-first order");
    CHECK_THROWS_WITH(make({-1, 0}, {0}),
                      "specsample::TreeShape: the number of ranks is 1, but must be that of parents, 2");
}

TEST_CASE("makers refuse what makes no tree", "[tree]") {
    CHECK_THROWS_WITH(expansion_tree({2, 0}), "specsample::expansion_tree: a branching is 0, but must be at least 1");
    CHECK_THROWS_WITH(tree_of_paths({{0}, {}}),
                      "specsample::tree_of_paths: a path is empty, but must be one rank or more");
    CHECK_THROWS_WITH(tree_of_paths({{0}, {1, 0, 2}}),
                      "specsample::tree_of_paths: path {1, 0} is missing, but must be listed: others extend it");
    CHECK_THROWS_WITH(tree_of_paths({{1, 0}}),
                      "specsample::tree_of_paths: path {1} is missing, but must be listed: others extend it");
    CHECK_THROWS_WITH(tree_of_paths({{0}, {0, 1}, {0}}),
                      "specsample::tree_of_paths: path {0} is there twice, but must be there once");
    CHECK_THROWS_WITH(tree_of_paths({{0}, {0, -1}}),
                      "specsample::tree_of_paths: path {0, -1} is negative, but must be of ranks of at least 0");
}

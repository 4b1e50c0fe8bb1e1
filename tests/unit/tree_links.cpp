// Token trees: their links for every order of nodes, and invalid parents.
#include <specsample/tree/links.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// The children of a node, by its links.
template <class S>
std::vector<Index> children(const S& shape, Index node) {
    std::vector<Index> result;
    for (Index child = shape.first_child(node); child != no_node; child = shape.next_sibling(child))
        result.push_back(child);
    return result;
}

template <class Parent>
detail::Links linked(const std::vector<Parent>& parents) {
    detail::Links links;
    links.connect(std::span<const Parent>(parents));
    return links;
}

detail::Links chain_of(Index size) {
    detail::Links links;
    links.become_chain(size);
    return links;
}

/// All nodes in preorder, siblings in their order.
template <class S>
void preorder(const S& shape, Index node, std::vector<Index>& nodes) {
    for (const Index child : children(shape, node)) {
        nodes.push_back(child);
        preorder(shape, child, nodes);
    }
}

}  // namespace

TEST_CASE("a tree in breadth-first order is linked", "[tree]") {
    const detail::Links links = linked<Index>({-1, -1, 0, 0, 1, 2, 2});
    CHECK(links.size() == 7);
    CHECK(children(links, root_node) == std::vector<Index>{0, 1});
    CHECK(children(links, 0) == std::vector<Index>{2, 3});
    CHECK(children(links, 1) == std::vector<Index>{4});
    CHECK(children(links, 2) == std::vector<Index>{5, 6});
    for (const Index leaf : {3, 4, 5, 6}) CHECK(children(links, leaf).empty());
    for (const auto& [node, parent] : {std::pair<Index, Index>{0, -1}, {1, -1}, {2, 0}, {3, 0}, {4, 1}, {5, 2}, {6, 2}})
        CHECK(links.parent(node) == parent);
}

TEST_CASE("the same tree in depth-first order has the same shape", "[tree]") {
    // Nodes 0 1 2 3 4 5 6 of the tree above are 0 5 1 4 6 2 3 here.
    const detail::Links links = linked<Index>({-1, 0, 1, 1, 0, -1, 5});
    CHECK(children(links, root_node) == std::vector<Index>{0, 5});
    CHECK(children(links, 0) == std::vector<Index>{1, 4});
    CHECK(children(links, 1) == std::vector<Index>{2, 3});
    CHECK(children(links, 5) == std::vector<Index>{6});
    std::vector<Index> nodes;
    preorder(links, root_node, nodes);
    CHECK(nodes == std::vector<Index>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("siblings stay in the order of their nodes, with anything between them", "[tree]") {
    const detail::Links links = linked<Index>({-1, 0, -1, 1, 0, -1, 2, 0});
    CHECK(children(links, root_node) == std::vector<Index>{0, 2, 5});
    CHECK(children(links, 0) == std::vector<Index>{1, 4, 7});
    CHECK(children(links, 1) == std::vector<Index>{3});
    CHECK(children(links, 2) == std::vector<Index>{6});
}

TEST_CASE("a path of parents is a chain", "[tree]") {
    const detail::Links links = linked<Index>({-1, 0, 1, 2});
    const detail::Links chain = chain_of(4);
    CHECK(links.is_chain());
    CHECK(links.size() == chain.size());
    CHECK(links.depth() == chain.depth());
    for (Index node = root_node; node < 4; ++node) {
        CHECK(children(links, node) == children(chain, node));
        CHECK(chain.depth(node) == node + 1);
        CHECK(chain.last_child(node) == (node < 3 ? node + 1 : no_node));
    }
    for (Index node = 0; node < 4; ++node) {
        CHECK(links.parent(node) == node - 1);
        CHECK(chain.parent(node) == node - 1);
    }
    CHECK(children(chain_of(0), root_node).empty());
}

TEST_CASE("a chain becomes a tree where it branches, and is one again when it is opened anew", "[tree]") {
    detail::Links links = chain_of(3);
    links.add(0);
    CHECK_FALSE(links.is_chain());
    CHECK(links.size() == 4);
    CHECK(links.depth() == 3);
    CHECK(children(links, root_node) == std::vector<Index>{0});
    CHECK(children(links, 0) == std::vector<Index>{1, 3});
    CHECK(children(links, 1) == std::vector<Index>{2});
    CHECK(links.last_child(0) == 3);
    links.add(3);
    links.add(4);
    CHECK(links.depth() == 4);
    CHECK(links.depth(5) == 4);
    links.become_chain(2);
    CHECK(links.is_chain());
    CHECK(children(links, 0) == std::vector<Index>{1});
    CHECK(children(links, 1).empty());
    links.add(root_node);
    CHECK(children(links, root_node) == std::vector<Index>{0, 2});
    CHECK(children(links, 0) == std::vector<Index>{1});
}

TEST_CASE("a tree without nodes has a root without children", "[tree]") {
    CHECK(detail::Links{}.size() == 0);
    CHECK(children(detail::Links{}, root_node).empty());
    const detail::Links links = linked<Index>({});
    CHECK(links.size() == 0);
    CHECK(children(links, root_node).empty());
}

TEMPLATE_TEST_CASE("parents of any integral type are linked", "[tree]", std::int8_t, std::int32_t, std::int64_t) {
    const detail::Links links = linked<TestType>({-1, 0, 0, -1, 2});
    CHECK(children(links, root_node) == std::vector<Index>{0, 3});
    CHECK(children(links, 0) == std::vector<Index>{1, 2});
    CHECK(links.parent(4) == 2);
}

TEST_CASE("parents without a sign have no way to name the prefix", "[tree]") {
    CHECK_THROWS_WITH(linked<std::uint32_t>({0}),
                      "specsample::Tree: parents[0] is 0, but must be -1 or a node before 0");
    CHECK_THROWS_WITH(linked<std::uint32_t>({~0u}),
                      "specsample::Tree: parents[0] is 4294967295, but must be -1 or a node before 0");
}

TEST_CASE("a parent that is no earlier node is refused by name", "[tree]") {
    CHECK_THROWS_WITH(linked<Index>({-1, 1}), "specsample::Tree: parents[1] is 1, but must be -1 or a node before 1");
    CHECK_THROWS_WITH(linked<Index>({-1, 0, 5, 0}),
                      "specsample::Tree: parents[2] is 5, but must be -1 or a node before 2");
    CHECK_THROWS_WITH(linked<Index>({-2}), "specsample::Tree: parents[0] is -2, but must be -1 or a node before 0");
    CHECK_THROWS_AS(linked<Index>({1, -1}), std::invalid_argument);
    CHECK_THROWS_AS(linked<std::int8_t>({-128}), std::invalid_argument);
}

TEST_CASE("links are made anew for every tree, larger, smaller, and after a refusal", "[tree]") {
    detail::Links links;
    const auto connect = [&](const std::vector<Index>& parents) { links.connect(std::span<const Index>(parents)); };
    connect({-1, 0, 0, 0});
    connect({-1, -1});
    CHECK(links.size() == 2);
    CHECK(children(links, root_node) == std::vector<Index>{0, 1});
    CHECK(children(links, 0).empty());
    CHECK_THROWS_AS(connect({-1, 7}), std::invalid_argument);
    connect({-1, 0, 1});
    CHECK(children(links, root_node) == std::vector<Index>{0});
    CHECK(children(links, 1) == std::vector<Index>{2});
    connect({});
    CHECK(children(links, root_node).empty());
}

TEST_CASE("a tree views the caller's tokens and parents, of any integral types", "[tree]") {
    const std::vector<std::uint16_t> tokens{3, 3, 4};
    const std::array<std::int32_t, 3> parents{-1, -1, 1};
    const Tree tree{tokens, parents};
    static_assert(std::is_same_v<decltype(tree), const Tree<std::uint16_t, std::int32_t>>);
    CHECK(tree.tokens.data() == tokens.data());
    CHECK(tree.parents.data() == parents.data());
    detail::Links links;
    links.connect(tree.parents);
    CHECK(children(links, root_node) == std::vector<Index>{0, 1});  // siblings may repeat a token
    CHECK(children(links, 1) == std::vector<Index>{2});
}

// Trees of heads: the tokens of their nodes.
#include <specsample/drafters/heads_tree.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <specsample/drafters/tree.hpp>
#include <specsample/testing/models.hpp>
#include <specsample/tree/sparse_tree.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::children;
using namespace specsample::heads;
using specsample::testing::ContextModel;

namespace {

constexpr Index vocab = 6;
using GivenRows = std::vector<Eigen::VectorXd>;

/// Row i ranks the tokens i, i + 1, ..; those below i are not ranked.
struct Ranked {
    std::size_t count = 3;

    GivenRows operator()(std::span<const Token>) const {
        GivenRows rows(count, Eigen::VectorXd::Zero(vocab));
        for (Index i = 0; i < std::ssize(rows); ++i)
            for (Index id = i; id < vocab; ++id) rows[static_cast<std::size_t>(i)][id] = std::pow(.5, id - i + 1);
        return rows;
    }
};

template <class Draft>
auto propose(Draft draft, Index depth, std::span<const Token> stops = {}, Index known = vocab) {
    DraftTree<typename Draft::Distribution> draft_tree;
    draft_tree.open(depth, stops, known);
    draft.propose(std::vector<Token>{1}, RoundRng(1, 0, 1), draft_tree);
    return draft_tree;
}

}  // namespace

TEST_CASE("a tree of heads takes the token of its rank in the row of its depth", "[draft]") {
    const TreeShape product = expansion_tree({2, 3});
    const TreeShape sparse = sparse_tree(std::vector<double>{.6, .3, .1}, 9);
    const TreeShape skips = tree_of_paths<Index>({{0}, {2}, {0, 1}, {2, 3}, {0, 1, 0}});
    for (const TreeShape& shape : {product, sparse, skips, expansion_tree({1, 1, 1})}) {
        const auto draft_tree =
            propose(HeadsTreeDrafter(Ranked{static_cast<std::size_t>(shape.depth())}, shape), shape.depth());
        REQUIRE(draft_tree.size() == shape.size());
        for (Index node = 0; node < shape.size(); ++node) {
            CHECK(draft_tree.parent(node) == shape.parent(node));
            CHECK(draft_tree.token(node) == shape.depth(node) - 1 + shape.rank(node));
        }
    }
    CHECK(product.size() == 8);
}

TEST_CASE("a tree of heads ends where it may not grow", "[draft]") {
    const HeadsTreeDrafter draft(Ranked{2}, expansion_tree({2, 3}));
    CHECK(propose(draft, 1).size() == 2);
    CHECK(propose(draft, 0).size() == 0);
    const std::vector<Token> stops{0};
    CHECK(propose(draft, 2, stops).size() == 2 + 3);  // nothing after token 0
    const auto small = propose(draft, 2, {}, 3);      // ids of 3 and more are no tokens of the target
    CHECK_FALSE(small.fault());
    CHECK(std::ranges::all_of(small.tokens(), [](Token token) { return token < 3; }));
    CHECK(small.size() > 0);
}

TEST_CASE("ranks that a row does not have leave nodes out, and what is below them", "[draft]") {
    const auto sure = [](std::span<const Token>) {
        GivenRows rows(3, Eigen::VectorXd::Zero(vocab));
        rows[0][4] = 1;
        rows[1][2] = rows[1][3] = .5;
        rows[2][5] = 1;
        return rows;
    };
    const auto draft_tree = propose(HeadsTreeDrafter(sure, expansion_tree({2, 3, 1})), 3);
    CHECK(std::ranges::equal(draft_tree.tokens(), std::vector<Token>{4, 2, 3, 5, 5}));
    CHECK(std::ranges::equal(draft_tree.view().parents, std::vector<Index>{-1, 0, 0, 1, 2}));
}

TEST_CASE("a tree of heads forgets the rows of the text before", "[draft]") {
    // As many ranks as the last token says, from that token on.
    const auto heads = [](std::span<const Token> prefix) {
        GivenRows rows(2, Eigen::VectorXd::Zero(vocab));
        for (Index i = 0; i < prefix.back(); ++i)
            rows[0][(prefix.back() + i) % vocab] = rows[1][i] = .1 + .01 * double(i);
        return rows;
    };
    const auto tokens = [](auto& draft, Token last) {
        DraftTree<PointMass> draft_tree;
        draft_tree.open(2, {}, vocab);
        draft.propose(std::vector<Token>{last}, RoundRng(1, 0, 1), draft_tree);
        return std::vector<Token>(draft_tree.tokens().begin(), draft_tree.tokens().end());
    };
    HeadsTreeDrafter draft(heads, expansion_tree({3, 2}));
    for (const Token last : {3, 1, 5, 2, 0, 4}) {
        HeadsTreeDrafter fresh(heads, expansion_tree({3, 2}));
        CAPTURE(last);
        CHECK(tokens(draft, last) == tokens(fresh, last));
    }
}

TEST_CASE("trees of heads are checked", "[draft]") {
    CHECK_THROWS_WITH(HeadsTreeDrafter(Ranked{}, TreeShape()),
                      ContainsSubstring("HeadsTreeDrafter: the number of nodes is 0, but must be at least 1"));
    for (const std::size_t rows : {1u, 3u})
        CHECK_THROWS_WITH(propose(HeadsTreeDrafter(Ranked{rows}, expansion_tree({2, 3})), 2),
                          ContainsSubstring("HeadsTreeDrafter: the number of rows that heads(prefix) returns is"));
}

TEST_CASE("a tree draft has the shape that it is given", "[draft]") {
    const ContextModel model(vocab, 3);
    for (const TreeShape& shape : {expansion_tree({3, 1, 2}), sparse_tree(std::vector<double>{.6, .3, .1}, 12)}) {
        const auto draft_tree = propose(TreeDrafter(model, shape, TopChildren{}), shape.depth());
        REQUIRE(draft_tree.size() == shape.size());
        // Depth first, unlike the shape: node by node, the children's counts and depths must agree.
        std::vector<Index> place{root_node};  // of the draft tree's nodes in the shape, the prefix first
        std::vector<Index> children(static_cast<std::size_t>(shape.size() + 1));
        for (Index node = 0; node < draft_tree.size(); ++node) {
            const auto parent = static_cast<std::size_t>(draft_tree.parent(node) + 1);
            place.push_back(shape.first_child(place[parent]) + children[parent]++);
            CHECK(draft_tree.depth(node) == shape.depth(place.back()));
        }
        std::sort(place.begin(), place.end());
        for (Index i = 0; i <= shape.size(); ++i) CHECK(place[static_cast<std::size_t>(i)] == i - 1);
    }
    CHECK(propose(TreeDrafter(model, {}), 3).size() == 0);  // no branching, no draft
    CHECK_THROWS_WITH(TreeDrafter(model, tree_of_paths<Index>({{0}, {2}})),
                      ContainsSubstring("TreeDrafter: the largest rank after a node is 2"));
}

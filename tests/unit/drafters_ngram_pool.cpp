// The pool of n-grams against a plain list, and the trees that are made of it.
#include <specsample/drafters/ngram_pool.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

using Text = std::vector<Token>;
using Texts = std::vector<Text>;

constexpr RoundRng rng(1, 0, 0);

Texts tails(const NgramPool& pool, Token first) {
    Texts all;
    pool.for_tails(first, [&](std::span<const Token> tail) { all.emplace_back(tail.begin(), tail.end()); });
    return all;
}

struct Node {
    Index parent;
    Token token;
    bool operator==(const Node&) const = default;
};

std::vector<Node> proposed(const NgramPool& pool, const Text& text, Index depth, const Text& stop_tokens = {}) {
    DraftTree<PointMass> draft_tree;
    draft_tree.open(depth, stop_tokens, 100);
    PoolDrafter(pool).propose(text, rng, draft_tree);
    std::vector<Node> nodes;
    for (Index node = 0; node < draft_tree.size(); ++node)
        nodes.push_back({draft_tree.parent(node), draft_tree.token(node)});
    return nodes;
}

}  // namespace

TEST_CASE("a pool keeps the n-grams of a text by their first token, the latest first") {
    NgramPool pool(3, 2);
    pool.add(Text{1, 2, 3, 1, 4});
    CHECK(tails(pool, 1) == Texts{{2, 3}});
    CHECK(tails(pool, 2) == Texts{{3, 1}});
    CHECK(tails(pool, 3) == Texts{{1, 4}});
    CHECK(tails(pool, 4).empty());
    pool.add(Text{1, 5, 6});
    CHECK(tails(pool, 1) == Texts{{5, 6}, {2, 3}});
    pool.add(Text{1, 2, 3});  // added again: the latest
    CHECK(tails(pool, 1) == Texts{{2, 3}, {5, 6}});
    pool.add(Text{1, 7, 8});  // no room
    CHECK(tails(pool, 1) == Texts{{7, 8}, {2, 3}});
    pool.add(Text{1, 7});  // no n-gram
    pool.add(Text{});
    CHECK(tails(pool, 1) == Texts{{7, 8}, {2, 3}});
}

TEST_CASE("a pool holds what a list of the latest different n-grams holds") {
    long dropped = 0;
    for (const Index length : {2, 3, 4})
        for (const Index capacity : {1, 2, 5}) {
            NgramPool pool(length, capacity);
            std::map<Token, std::deque<Text>> lists;
            for (Index i = 0; i < 200; ++i) {
                Text text;
                for (Index j = 0; j < 6; ++j)
                    text.push_back(static_cast<Token>(
                        Rng({.seed = static_cast<std::uint64_t>(length), .position = i, .node = j}).bits() % 3));
                pool.add(text);
                for (Index at = 0; at + length <= std::ssize(text); ++at) {
                    auto& list = lists[text[static_cast<std::size_t>(at)]];
                    const Text tail(text.begin() + at + 1, text.begin() + at + length);
                    std::erase(list, tail);
                    list.push_front(tail);
                    if (std::ssize(list) > capacity) {
                        list.pop_back();
                        ++dropped;
                    }
                }
                for (Token first = 0; first < 3; ++first)
                    REQUIRE(tails(pool, first) == Texts(lists[first].begin(), lists[first].end()));
            }
        }
    CHECK(dropped > 1000);
}

TEST_CASE("n-grams that begin alike share the nodes of one tree") {
    NgramPool pool(4, 8);
    for (const Text& ngram : Texts{{1, 2, 3, 4}, {1, 2, 3, 5}, {1, 6, 3, 4}, {1, 2, 7, 4}, {9, 9, 9, 9}})
        pool.add(ngram);
    // The latest first: 2 7 4, 6 3 4, 2 3 5, 2 3 4.
    const std::vector<Node> tree{{-1, 2}, {0, 7}, {1, 4}, {-1, 6}, {3, 3}, {4, 4}, {0, 3}, {6, 5}, {6, 4}};
    CHECK(proposed(pool, {8, 1}, 3) == tree);
    CHECK(proposed(pool, {1}, 5) == tree);  // no deeper than an n-gram
    CHECK(proposed(pool, {1}, 1) == std::vector<Node>{{-1, 2}, {-1, 6}});
    CHECK(proposed(pool, {1}, 3, {2, 3}) == std::vector<Node>{{-1, 2}, {-1, 6}, {1, 3}});  // stop tokens are leaves
    CHECK(proposed(pool, {9}, 2) == std::vector<Node>{{-1, 9}, {0, 9}});
    CHECK(proposed(pool, {1, 4}, 3).empty());
    CHECK(proposed(pool, {}, 3).empty());
    CHECK(proposed(pool, {1}, 0).empty());
}

TEST_CASE("every path of a pool's tree begins an n-gram, and every n-gram is a path") {
    NgramPool pool(4, 6);
    for (Index i = 0; i < 300; ++i)
        pool.add(Text{static_cast<Token>(Rng({.position = i, .node = 0}).bits() % 2),
                      static_cast<Token>(Rng({.position = i, .node = 1}).bits() % 3),
                      static_cast<Token>(Rng({.position = i, .node = 2}).bits() % 3),
                      static_cast<Token>(Rng({.position = i, .node = 3}).bits() % 3)});
    for (const Token first : {0, 1}) {
        std::set<Text> prefixes, paths;
        for (const Text& tail : tails(pool, first))
            for (Index n = 1; n <= std::ssize(tail); ++n) prefixes.emplace(tail.begin(), tail.begin() + n);
        DraftTree<PointMass> draft_tree;
        draft_tree.open(3, {}, 3);
        PoolDrafter(pool).propose(Text{first}, rng, draft_tree);
        for (Index node = 0; node < draft_tree.size(); ++node) {
            Text path;
            draft_tree.append_path(node, path);
            CHECK(paths.insert(path).second);  // no path twice
        }
        CHECK(paths == prefixes);
        CHECK(paths.size() > 10);
    }
}

TEST_CASE("the nodes that other drafters have added are left alone") {
    NgramPool pool(3, 4);
    pool.add(Text{1, 2, 3});
    pool.add(Text{1, 2, 4});
    const Eigen::VectorXd row = Eigen::VectorXd::Constant(9, 1. / 9);
    DraftTree<Mixed<detail::row_view_t<Eigen::VectorXd>>> draft_tree;
    draft_tree.open(5, {}, 9);
    draft_tree.add(root_node, 2, Sampled(row));
    PoolDrafter(pool).propose(Text{1}, rng, draft_tree);
    CHECK(std::ranges::equal(draft_tree.tokens(), Text{2, 2, 4, 3}));
    CHECK(draft_tree.parent(1) == root_node);
    CHECK(draft_tree.parent(2) == 1);
    CHECK(draft_tree.parent(3) == 1);
    CHECK(draft_tree.distributions()[1].is_point());
}

TEST_CASE("a token that the target cannot have ends the n-gram that has it, and no other") {
    NgramPool pool(3, 4);
    pool.add(Text{1, 2, 3});
    pool.add(Text{1, 20, 3});
    DraftTree<PointMass> draft_tree;
    draft_tree.open(5, {}, 9);
    PoolDrafter(pool).propose(Text{1}, rng, draft_tree);
    CHECK_FALSE(draft_tree.fault());
    CHECK(std::ranges::equal(draft_tree.tokens(), Text{2, 3}));
}

TEST_CASE("a pool refuses wrong sizes by name") {
    CHECK_THROWS_WITH(NgramPool(1, 3), "specsample::NgramPool: length is 1, but must be at least 2");
    CHECK_THROWS_WITH(NgramPool(2, 0), "specsample::NgramPool: capacity is 0, but must be at least 1");
}

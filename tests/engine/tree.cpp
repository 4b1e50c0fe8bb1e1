// Trees in a cache: the rows of a node are those of its path as a text, bit for bit, and what stays of a tree is a
// text.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include <specsample/tree/attention.hpp>

#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::random_tokens;
using testing::same_bits;

namespace {

struct Tree {
    std::vector<Token> tokens;
    std::vector<Index> parents;

    /// The nodes from the prefix to `node`.
    std::vector<Index> path(Index node) const {
        std::vector<Index> nodes;
        for (; node >= 0; node = parents[static_cast<std::size_t>(node)]) nodes.push_back(node);
        std::ranges::reverse(nodes);
        return nodes;
    }

    std::vector<Token> text(std::vector<Token> prefix, Index node) const {
        for (const Index i : path(node)) prefix.push_back(tokens[static_cast<std::size_t>(i)]);
        return prefix;
    }
};

/// Siblings have different tokens, as the find of a path asks for.
Tree random_tree(Index nodes, Index vocab, testing::Uniform& uniform) {
    Tree tree;
    for (Index node = 0; node < nodes; ++node) {
        tree.parents.push_back(uniform.below(node + 1) - 1);
        tree.tokens.push_back(static_cast<Token>(node % vocab));
    }
    return tree;
}

RowMatrix fresh_row(const std::shared_ptr<const Weights>& weights, std::span<const Token> text) {
    return Model(weights).score(text, 1);
}

std::shared_ptr<PagePool> pool_of(const Weights& weights, Index positions, Index pages = PagePool::unlimited) {
    return std::make_shared<PagePool>(weights.config.cache(), positions, pages);
}

}  // namespace

TEST_CASE("a node's row has the bits of its path as a text, in any cache and with any team") {
    testing::Uniform uniform(21);
    for (const auto& weights : all_weights()) {
        for (const Index positions : {weights->config.context, Index{1}, Index{3}, Index{16}}) {
            for (const Index threads : {1, 2}) {
                Model model(weights, pool_of(*weights, positions), std::make_shared<Team>(threads));
                const auto prefix = random_tokens(5 + uniform.below(20), model.vocab(), 22);
                const Tree tree = random_tree(1 + uniform.below(20), model.vocab(), uniform);
                const RowMatrix rows = model.score_tree(prefix, tree.tokens, tree.parents);
                CAPTURE(weights->config.dim, positions, threads, prefix.size(), tree.parents);
                REQUIRE(rows.rows() == std::ssize(tree.tokens) + 1);
                for (Index node = -1; node < std::ssize(tree.tokens); ++node)
                    CHECK(same_bits(rows.row(node + 1), fresh_row(weights, tree.text(prefix, node))));
            }
        }
    }
}

TEST_CASE("what a round keeps of a tree goes on as a text, and what it does not is gone") {
    testing::Uniform uniform(23);
    for (const auto& weights : all_weights()) {
        const auto pool = pool_of(*weights, 4);
        Model model(weights, pool);
        std::vector<Token> text = random_tokens(7, model.vocab(), 24);
        for (int round = 0; round < 12 && std::ssize(text) < 40; ++round) {
            const Tree tree = random_tree(9, model.vocab(), uniform);
            const RowMatrix rows = model.score_tree(text, tree.tokens, tree.parents);
            CHECK(same_bits(rows.row(0), fresh_row(weights, text)));
            CHECK(model.length() == std::ssize(text) + 9);
            text = tree.text(text, uniform.below(10) - 1);  // any node, or none
            const Index cached = std::ssize(text);
            text.push_back(static_cast<Token>(model.vocab() - 1));  // in no tree
            CHECK(model.keep(text) == cached);
            CHECK(model.length() == cached);
            CHECK(pool->in_use() == divide_up(cached, 4));
            Model other(weights);
            for (Index which = 0; which < states_per_position; ++which) {
                const auto known = std::span(text).first(static_cast<std::size_t>(cached));
                const RowMatrix state = model.state(known, which).matrix();
                const RowMatrix expected = other.state(known, which).matrix();
                CHECK(same_bits(state, expected));
            }
            CHECK(model.length() == cached);  // it was known
        }
    }
}

TEST_CASE("what a slot sees is a row of the ancestor mask") {
    testing::Uniform uniform(25);
    for (int round = 0; round < 50; ++round) {
        const Tree tree = random_tree(1 + uniform.below(30), 1000, uniform);
        History history;
        const Index before = uniform.below(5);
        for (Index i = 0; i < before; ++i) history.push(static_cast<Token>(i), i - 1, 1);
        for (std::size_t i = 0; i < tree.tokens.size(); ++i) history.push(tree.tokens[i], before + tree.parents[i], 1);
        Eigen::MatrixXi mask(std::ssize(tree.tokens), std::ssize(tree.tokens));
        specsample::attention::ancestor_mask(tree.parents, mask);
        for (Index node = 0; node < mask.rows(); ++node) {
            History::Visible visible;
            history.see(before + node, visible);
            Eigen::VectorXi seen = Eigen::VectorXi::Zero(before + mask.cols());
            seen.head(visible.all_before).setOnes();
            for (const Index slot : visible.others) seen[slot] += 1;
            CHECK((seen.head(before).array() == 1).all());
            CHECK(seen.tail(mask.cols()) == mask.row(node).transpose());
            CHECK(std::ranges::is_sorted(visible.others));
        }
    }
}

TEST_CASE("a tree may be deeper than a pass, and have more nodes than the context has positions left") {
    const auto weights = all_weights().front();  // a context of 70
    Model model(weights);
    const auto prefix = random_tokens(66, model.vocab(), 26);
    Tree bush;
    for (Index node = 0; node < 36; ++node) {
        bush.tokens.push_back(static_cast<Token>(node));
        bush.parents.push_back(node / 9 - 1);
    }
    const RowMatrix rows = model.score_tree(prefix, bush.tokens, bush.parents);
    for (const Index node : {0, 8, 17, 35})
        CHECK(same_bits(rows.row(node + 1), fresh_row(weights, bush.text(prefix, node))));
    CHECK(model.pages().in_use() == 2);
    CHECK(model.keep(prefix) == 66);
    CHECK(model.pages().in_use() == 1);
}

TEST_CASE("a tree that is none is refused and changes nothing") {
    const auto weights = all_weights().front();
    const auto pool = pool_of(*weights, 8, 4);
    Model model(weights, pool);
    const auto text = random_tokens(20, model.vocab(), 27);
    model.forward(text);
    const std::vector<Token> two{1, 2}, deep(51, 1);
    std::vector<Index> chain(51);
    for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<Index>(i) - 1;
    const auto tree = [&](std::vector<Token> tokens, std::vector<Index> parents) {
        model.score_tree(text, tokens, parents);
    };
    CHECK_THROWS_WITH(tree(two, {-1}), ContainsSubstring("the number of positions is 2"));
    CHECK_THROWS_WITH(tree(two, {1, 0}), ContainsSubstring("parent"));
    CHECK_THROWS_WITH(tree(two, {-1, 1}), ContainsSubstring("parent"));
    CHECK_THROWS_WITH(tree(two, {-2, -1}), ContainsSubstring("parent"));
    CHECK_THROWS_WITH(tree({1, 37}, {-1, 0}), ContainsSubstring("token 37 is outside"));
    CHECK_THROWS_WITH(model.score_tree(text, deep, chain), ContainsSubstring("51 tokens behind 20 exceed"));
    CHECK(model.length() == 20);
    CHECK(pool->in_use() == 3);
    CHECK_THROWS_WITH(model.score_tree(text, std::span(deep).first(13), std::span(chain).first(13)),
                      ContainsSubstring("the cache needs 2 more pages of 8 positions, but the pool has 1 left"));
    CHECK(model.keep(text) == 19);  // what it would have fed again is gone, and nothing else
    tree(two, {-1, -1});
    CHECK_THROWS_WITH(model.forward(two), ContainsSubstring("the first 22 slots of the cache are not a text"));
    CHECK_THROWS_WITH(model.truncate(22), ContainsSubstring("are not a text"));
    model.truncate(21);
    CHECK(model.keep(text) == 20);
}

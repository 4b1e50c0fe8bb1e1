// Pages: what is rejected is given back at once, and nothing is ever lost.
#include "engine/pages.hpp"

#include <stdexcept>
#include <vector>

#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::random_tokens;
using testing::same_bits;

namespace {

/// A model whose passes cost next to nothing.
std::shared_ptr<const Weights> tiny() {
    return testing::loaded(testing::ReferenceModel({2, 1, 1, 1, 1, 6, 64}, true, 31).float32_file());
}

std::shared_ptr<PagePool> pool_of(const Weights& weights, Index positions, Index pages) {
    return std::make_shared<PagePool>(weights.config.cache(), positions, pages);
}

}  // namespace

TEST_CASE("a hundred thousand rounds of two texts leak no page") {
    const auto weights = tiny();
    const auto pool = pool_of(*weights, 4, 40);
    testing::Uniform uniform(32);
    {
        std::vector<Model> models(2, Model(weights, pool));
        std::vector<std::vector<Token>> texts(2, std::vector<Token>{0});
        Index used = 0;
        for (int round = 0; round < 100'000; ++round) {
            const auto which = static_cast<std::size_t>(round % 2);
            Model& model = models[which];
            std::vector<Token>& text = texts[which];
            if (text.size() > 50) text.resize(1);  // another request
            const Index nodes = uniform.below(6);
            std::vector<Token> tokens;
            std::vector<Index> parents;
            for (Index i = 0; i < nodes; ++i) {
                tokens.push_back(static_cast<Token>(i));
                parents.push_back(uniform.below(i + 1) - 1);
            }
            model.score_tree(text, tokens, parents);
            if (nodes > 0) {  // one path is accepted
                std::vector<Token> path;
                for (Index node = uniform.below(nodes); node >= 0; node = parents[static_cast<std::size_t>(node)])
                    path.insert(path.begin(), tokens[static_cast<std::size_t>(node)]);
                text.insert(text.end(), path.begin(), path.end());
            }
            text.push_back(5);  // in no tree
            REQUIRE(model.keep(text) == std::ssize(text) - 1);
            Index needed = 0;
            for (const Model& each : models) needed += divide_up(each.length(), 4);
            REQUIRE(pool->in_use() == needed);
            used = std::max(used, needed);
        }
        CHECK(used > 20);  // texts of 50 tokens and more were held at the same time
    }
    CHECK(pool->in_use() == 0);
    CHECK(pool->available() == 40);
}

TEST_CASE("a copy has pages of its own, and a moved model keeps its own") {
    for (const auto& weights : all_weights()) {
        const auto pool = pool_of(*weights, 8, 20);
        const auto tokens = random_tokens(30, weights->config.vocab, 33);
        Model model(weights, pool);
        const RowMatrix expected = model.forward(tokens).bottomRows(1);
        CHECK(pool->in_use() == 4);
        Model copy = model;
        CHECK(pool->in_use() == 8);
        model.truncate(3);
        CHECK(pool->in_use() == 5);
        CHECK(same_bits(copy.score(tokens, 1), expected));
        model = std::move(copy);
        CHECK(pool->in_use() == 4);
        CHECK(same_bits(model.score(tokens, 1), expected));
        model = Model(weights, pool);
        CHECK(pool->in_use() == 0);
    }
}

TEST_CASE("an exhausted pool says so, and what was written stays") {
    const auto weights = tiny();
    const auto pool = pool_of(*weights, 4, 3);
    Model first(weights, pool);
    Model second(weights, pool);
    first.forward(random_tokens(5, 5, 34));
    second.forward(random_tokens(4, 5, 35));
    const auto more = random_tokens(4, 5, 36);
    CHECK_THROWS_WITH(second.forward(more), ContainsSubstring("needs 1 more pages of 4 positions"));
    CHECK_THROWS_AS(second.forward(more), std::runtime_error);
    CHECK(second.length() == 4);
    CHECK(pool->in_use() == 3);
    first.truncate(4);
    second.forward(more);
    CHECK(second.length() == 8);
}

TEST_CASE("a pool without positions or pages, or of another shape, is refused") {
    const auto weights = tiny();
    CHECK_THROWS_WITH(pool_of(*weights, 0, 1), ContainsSubstring("the number of positions is 0"));
    CHECK_THROWS_WITH(pool_of(*weights, 1, 0), ContainsSubstring("the number of pages is 0"));
    CacheShape shape = weights->config.cache();
    ++shape.layers;
    CHECK_THROWS_WITH(Model(weights, std::make_shared<PagePool>(shape, 4)), ContainsSubstring("another shape"));
}

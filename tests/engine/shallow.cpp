// A model of the first layers inside a model: it drafts from the same cache.
#include <vector>

#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::random_tokens;
using testing::same_bits;

namespace {

/// A model that has only the first layers.
std::shared_ptr<const Weights> cut(const Weights& weights, Index layers) {
    auto copy = std::make_shared<Weights>(weights);
    copy->layers.resize(static_cast<std::size_t>(layers));
    copy->config.layers = layers;
    return copy;
}

}  // namespace

TEST_CASE("the first layers of a model give the rows of a model that has only those") {
    for (const auto& weights : all_weights()) {
        for (Index layers = 1; layers <= weights->config.layers; ++layers) {
            Model model(weights), smaller(cut(*weights, layers));
            const auto tokens = random_tokens(25, model.vocab(), 41);
            model.forward(std::span(tokens).first(20));  // the whole model wrote most of the text
            CHECK(same_bits(model.score(tokens, 3, layers), smaller.score(tokens, 3)));
        }
    }
}

TEST_CASE("a draft by the first layers needs no room for the text, and leaves the whole model right") {
    for (const auto& weights : all_weights()) {
        const auto pool = std::make_shared<PagePool>(weights->config.cache(), 1);
        Model model(weights, pool), plain(weights);
        std::vector<Token> text = random_tokens(12, model.vocab(), 42);
        model.score(text, 1);
        for (int round = 0; round < 6; ++round) {
            const Index before = pool->in_use();
            for (Index drafted = 0; drafted < 3; ++drafted) {
                model.score(text, 1, 1);
                Index best = 0;
                model.score(text, 1, 1).row(0).maxCoeff(&best);
                text.push_back(static_cast<Token>(best));
            }
            CHECK(pool->in_use() - before <= 3);  // the drafted tokens, and none of the text
            const RowMatrix rows = model.score(text, 4);
            CHECK(same_bits(rows, plain.score(text, 4)));
            text.resize(text.size() - static_cast<std::size_t>(round % 4));  // some are rejected
            text.push_back(static_cast<Token>(round));
        }
    }
}

TEST_CASE("a number of layers that a model has not is refused") {
    Model model(all_weights().front());
    const std::vector<Token> text{1, 2, 3};
    CHECK_THROWS_WITH(model.score(text, 1, 0), ContainsSubstring("0 of 3 layers"));
    CHECK_THROWS_WITH(model.score(text, 1, 4), ContainsSubstring("4 of 3 layers"));
    CHECK(model.length() == 0);
}

// Texts that grow together have the bits of texts that grow alone.
#include "engine/batch.hpp"

#include "engine/checkpoints.hpp"
#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::same_bits;

TEST_CASE("batch: rows and states are those of a model alone, whenever texts begin and end") {
    for (const auto& weights : testing::all_weights()) {
        Batch batch(weights, std::make_shared<Team>(2), 3, 40);
        std::vector<std::vector<Token>> texts(3);
        testing::Uniform uniform(1);
        for (int round = 0; round < 25; ++round) {
            std::vector<Batch::Next> next;
            for (Index text = 0; text < 3; ++text) {
                if (uniform() < 0.1) {
                    batch.clear(text);
                    texts[static_cast<std::size_t>(text)].clear();
                }
                if (uniform() < 0.8) next.push_back({text, uniform.below(weights->config.vocab)});
            }
            if (next.empty()) continue;
            for (const auto& [text, token] : next) texts[static_cast<std::size_t>(text)].push_back(token);
            const Logits logits = batch.forward(next);
            for (std::size_t i = 0; i < next.size(); ++i) {
                const auto& text = texts[static_cast<std::size_t>(next[i].text)];
                Model alone(weights);
                CHECK(same_bits(logits.row(static_cast<Index>(i)), alone.score(text, 1)));
                for (Index which = 0; which < states_per_position; ++which)
                    CHECK((batch.state(next[i].text, which) == alone.state(text, which)).all());
                CHECK(batch.length(next[i].text) == std::ssize(text));
            }
        }
    }
}

TEST_CASE("batch: wrong calls are refused in a sentence and change nothing") {
    const auto weights = testing::all_weights().front();
    CHECK_THROWS_WITH(Batch(weights, nullptr, 17, 10), "Batch: texts is 17, but must be 1 to 16");
    CHECK_THROWS_WITH(Batch(weights, nullptr, 1, 71), "Batch: context is 71, but must be 1 to 70");
    Batch batch(weights, nullptr, 2, 1);
    const std::vector<Batch::Next> wrong{{0, 1}, {1, 37}};
    CHECK_THROWS_WITH(batch.forward(wrong), "token 37 is outside the vocabulary of 37");
    CHECK(batch.length(0) == 0);
    const std::vector<Batch::Next> right{{0, 1}, {1, 2}};
    batch.forward(right);
    CHECK_THROWS_WITH(batch.forward(right), "text 0 has no room behind 1 tokens");
}

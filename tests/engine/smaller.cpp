// Copies of a model that draft for it: what is cut, and what is lost.
#include "engine/smaller.hpp"

#include <stdexcept>

#include "engine/model.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::loaded;
using testing::odd_config;
using testing::ReferenceModel;
using testing::same_bits;

TEST_CASE("a quantised copy is at most half a step away from every weight") {
    for (const bool tied : {true, false}) {
        const auto weights = loaded(ReferenceModel(odd_config, tied, 61).float32_file());
        const auto copy = quantised(*weights);
        CHECK(copy->embedding.bytes() == static_cast<std::size_t>(round_up(37, panel_rows) * (20 + 4)));
        CHECK(copy->untied_classifier.has_value() == !tied);
        const auto check = [](const PackedMatrix& a, const PackedMatrix& b) {
            Eigen::ArrayXf exact(a.columns()), rounded(a.columns());
            for (Index r = 0; r < a.rows(); ++r) {
                a.copy_row(r, exact.data());
                b.copy_row(r, rounded.data());
                const float step = exact.abs().maxCoeff() / 127;
                CHECK((exact - rounded).abs().maxCoeff() <= step * .5001f);
                CHECK(rounded.abs().maxCoeff() == Approx(exact.abs().maxCoeff()));
            }
        };
        check(weights->embedding, copy->embedding);
        check(weights->classifier(), copy->classifier());
        for (std::size_t i = 0; i < weights->layers.size(); ++i) {
            check(weights->layers[i].query_key_value, copy->layers[i].query_key_value);
            check(weights->layers[i].attention_output, copy->layers[i].attention_output);
            check(weights->layers[i].gate_up, copy->layers[i].gate_up);
            check(weights->layers[i].down, copy->layers[i].down);
        }
        const auto tokens = testing::random_tokens(12, odd_config.vocab, 62);
        Model exact(weights), rounded(copy);
        CHECK((exact.score(tokens, 12) - rounded.score(tokens, 12)).cwiseAbs().maxCoeff() < .05f);
    }
}

TEST_CASE("a pruned copy has the first layers and the last") {
    const auto weights = all_weights().front();
    const auto tokens = testing::random_tokens(12, weights->config.vocab, 63);
    CHECK(same_bits(Model(pruned(*weights, 3)).score(tokens, 1), Model(weights).score(tokens, 1)));
    for (const Index layers : {1, 2}) {
        Weights expected = *weights;
        expected.config.layers = layers;
        expected.layers = {weights->layers[2]};
        if (layers == 2) expected.layers.insert(expected.layers.begin(), weights->layers[0]);
        const auto shared = std::make_shared<const Weights>(expected);
        CHECK(same_bits(Model(pruned(*weights, layers)).score(tokens, 1), Model(shared).score(tokens, 1)));
    }
    CHECK_THROWS_WITH(pruned(*weights, 0), ContainsSubstring("cannot keep 0 of 3 layers"));
    CHECK_THROWS_WITH(pruned(*weights, 4), ContainsSubstring("cannot keep 4 of 3 layers"));
}

// The samplers rely on right logits, and the same bits for a position whatever else a pass computes.
#include "engine/model.hpp"

#include <cmath>
#include <stdexcept>

#include "engine/checkpoints.hpp"
#include "engine/tokenizer.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::all_weights;
using testing::loaded;
using testing::odd_config;
using testing::ReferenceModel;
using testing::same_bits;

namespace {

const std::filesystem::path models = SPECSAMPLE_MODELS_DIR;

/// Logits of all tokens, fed in chunks whose sizes repeat `sizes`.
RowMatrix fed(Model& model, std::span<const Token> tokens, const std::vector<std::size_t>& sizes) {
    RowMatrix logits(std::ssize(tokens), model.vocab());
    std::size_t done = 0;
    for (std::size_t i = 0; done < tokens.size(); ++i) {
        const std::size_t count = std::min(sizes[i % sizes.size()], tokens.size() - done);
        logits.middleRows(static_cast<Index>(done), static_cast<Index>(count)) =
            model.forward(tokens.subspan(done, count));
        done += count;
    }
    return logits;
}

double worst_error(const Logits& logits, const std::vector<std::vector<double>>& expected) {
    double worst = 0;
    for (Index i = 0; i < logits.rows(); ++i) {
        const auto& row = expected[static_cast<std::size_t>(i)];
        for (Index v = 0; v < logits.cols(); ++v) {
            worst = std::max(worst, std::abs(logits(i, v) - row[static_cast<std::size_t>(v)]));
        }
    }
    return worst;
}

double mean_loss(Model& model, const std::vector<Token>& text) {
    const Logits logits = model.score(text, std::ssize(text));
    double loss = 0;
    for (Index i = 0; i + 1 < logits.rows(); ++i) {
        const auto row = logits.row(i).array().cast<double>();
        loss += std::log(row.exp().sum()) - row(text[static_cast<std::size_t>(i + 1)]);
    }
    return loss / static_cast<double>(logits.rows() - 1);
}

}  // namespace

TEST_CASE("states are the residual stream after a third and two thirds of the layers, and the classifier's input") {
    for (const Index layers : {1, 2, 3, 7}) {
        Config config = odd_config;
        config.layers = layers;
        const ReferenceModel reference(config, true, 15);
        Model model(loaded(reference.float32_file()));
        const std::vector<Token> text = testing::random_tokens(19, config.vocab, 16);
        model.forward(text);
        for (const std::size_t known : {1u, 11u, 19u}) {
            for (Index which = 0; which + 1 < states_per_position; ++which) {
                const ConstVector state = model.state(std::span(text).first(known), which);
                const auto expected = reference.residual_stream(text, layers * (which + 1) / 3)[known - 1];
                CAPTURE(layers, known, which);
                CHECK((state.cast<double>() - Eigen::Map<const Eigen::ArrayXd>(expected.data(), config.dim))
                          .abs()
                          .maxCoeff() < 1e-4);
            }
            const RowMatrix final_state = model.state(std::span(text).first(known)).matrix().transpose();
            RowMatrix logits(1, config.vocab);
            multiply(model.weights()->classifier(), final_state, logits, *model.team());
            const auto expected = reference.logits(text)[known - 1];
            CHECK(worst_error(Logits(logits.data(), 1, logits.cols()), {expected}) < 1e-3);
        }
    }
}

TEST_CASE("logits agree with a double-precision Llama") {
    for (const bool tied : {true, false}) {
        const ReferenceModel reference(odd_config, tied, 5);
        const auto tokens = testing::random_tokens(odd_config.context, odd_config.vocab, 6);
        Model model(loaded(reference.float32_file()));
        CHECK(worst_error(model.forward(tokens), reference.logits(tokens)) < 2e-5);
    }
    const ReferenceModel reference(odd_config, true, 7);
    const auto tokens = testing::random_tokens(odd_config.context, odd_config.vocab, 8);
    Model model(loaded(reference.int8_file()));
    CHECK(worst_error(model.forward(tokens), reference.logits(tokens)) < 2e-5);
}

TEST_CASE("with activations of 8 bits, logits are near a double-precision Llama's") {
    const auto tokens = testing::random_tokens(testing::group_config.context, testing::group_config.vocab, 6);
    for (const int bits : {4, 8}) {
        for (const bool tied : {true, false}) {
            ReferenceModel reference(testing::group_config, tied, 5);
            Model model(loaded(reference.groups_file(bits)));
            const Logits logits = model.forward(tokens);
            const auto expected = reference.logits(tokens);
            double error = 0, size = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                for (std::size_t id = 0; id < expected[i].size(); ++id) {
                    const double got = logits(static_cast<Index>(i), static_cast<Index>(id));
                    error += (got - expected[i][id]) * (got - expected[i][id]);
                    size += expected[i][id] * expected[i][id];
                }
            }
            CAPTURE(bits, tied);
            CHECK(std::sqrt(error / size) < 0.03);  // rounding to 8 bits is wrong by 1/220 of a group's largest
            CHECK(error > 0);
        }
    }
}

TEST_CASE("a position's logits have the same bits in passes of any size") {
    for (const auto& weights : all_weights()) {
        Model model(weights);
        const auto tokens = testing::random_tokens(50, model.vocab(), 9);
        const RowMatrix one_by_one = fed(model, tokens, {1});
        for (const auto& sizes : std::vector<std::vector<std::size_t>>{
                 {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {12}, {13}, {16}, {17}, {50}, {5, 1, 16, 8, 2}, {49, 1}}) {
            model.truncate(0);
            CAPTURE(weights->config.dim, sizes);
            CHECK(same_bits(fed(model, tokens, sizes), one_by_one));
        }
    }
}

TEST_CASE("a position's logits have the same bits with a team of any size, however its members share heads and rows") {
    const Config whole{192, 512, 2, 6, 2, 64, 40};   // heads of whole panels, each key head's results whole groups
    const Config halves{192, 512, 2, 8, 4, 64, 40};  // heads of 24 rows, and two key heads' results are whole groups
    const Config odd{192, 360, 2, 8, 4, 64, 40};     // a part of the hidden rows is no multiple of a panel
    for (const auto& weights :
         {loaded(ReferenceModel(whole, true, 1).groups_file(4)), loaded(ReferenceModel(whole, true, 2).groups_file(8)),
          loaded(ReferenceModel(halves, true, 3).groups_file(4)),
          loaded(ReferenceModel(halves, true, 4).groups_file(8)), loaded(ReferenceModel(whole, true, 5).float32_file()),
          loaded(ReferenceModel(odd, true, 6).float32_file()), loaded(ReferenceModel(odd, true, 7).int8_file())}) {
        REQUIRE(weights->layers[0].query_key_value.is_worth_sharing(7));
        const auto tokens = testing::random_tokens(37, weights->config.vocab, 8);
        Model alone(weights);
        const RowMatrix one_by_one = fed(alone, tokens, {1});
        for (const Index members : {2, 3, 4}) {
            Model model(weights, nullptr, std::make_shared<Team>(members));
            CAPTURE(weights->config.hidden, weights->config.heads, members);
            CHECK(same_bits(fed(model, tokens, {7, 16, 1, 13}), one_by_one));
        }
    }
}

TEST_CASE("truncating forgets: what is fed next equals a fresh start") {
    for (const auto& weights : all_weights()) {
        Model fresh(weights);
        const auto tokens = testing::random_tokens(40, fresh.vocab(), 10);
        const auto others = testing::random_tokens(30, fresh.vocab(), 11);
        const RowMatrix expected = fed(fresh, tokens, {40});
        for (const Index kept : {0, 1, 15, 16, 17, 39}) {
            Model model(weights);
            const auto head = std::span(tokens).first(static_cast<std::size_t>(kept));
            if (!head.empty()) model.forward(head);
            model.forward(others);
            model.truncate(kept);
            CHECK(model.length() == kept);
            const Logits tail = model.forward(std::span(tokens).subspan(static_cast<std::size_t>(kept)));
            CHECK(same_bits(tail, expected.bottomRows(40 - kept)));
        }
    }
}

TEST_CASE("score gives the bits of a fresh forward, whatever was cached before") {
    for (const auto& weights : all_weights()) {
        Model model(weights);
        testing::Uniform uniform(12);
        std::vector<Token> prefix;
        for (int round = 0; round < 60; ++round) {
            prefix.resize(
                static_cast<std::size_t>(uniform.below(std::ssize(prefix) + 1)));  // a common part of any length
            const auto more =
                testing::random_tokens(1 + uniform.below(20), model.vocab(), static_cast<unsigned>(round));
            prefix.insert(prefix.end(), more.begin(), more.end());
            prefix.resize(std::min<std::size_t>(prefix.size(), 64));
            const Index n = 1 + uniform.below(std::min<Index>(std::ssize(prefix), 24));
            Model fresh(weights);
            const RowMatrix expected = fresh.forward(prefix).bottomRows(n);
            CAPTURE(weights->config.dim, round, prefix.size(), n);
            CHECK(same_bits(model.score(prefix, n), expected));
            CHECK(same_bits(model.score(prefix, n), expected));  // again, with everything cached
            CHECK(model.length() == std::ssize(prefix));
        }
    }
}

TEST_CASE("score recomputes what it returns instead of trusting the buffer of the last call") {
    Model model(all_weights().front());
    const auto tokens = testing::random_tokens(12, model.vocab(), 13);
    const RowMatrix expected = model.score(tokens, 4);
    model.score(std::span(tokens).first(3), 2);
    CHECK(same_bits(model.score(tokens, 4), expected));
}

TEST_CASE("models share weights and keep caches of their own, also when moved") {
    const auto weights = all_weights().front();
    const auto tokens = testing::random_tokens(8, weights->config.vocab, 14);
    Model first(weights);
    Model second(weights);
    const RowMatrix expected = first.forward(tokens);
    second.forward(std::span(tokens).last(3));
    Model moved(std::move(first));
    CHECK(moved.length() == 8);
    CHECK(second.length() == 3);
    CHECK(same_bits(moved.score(tokens, 8), expected));
}

TEST_CASE("wrong calls are refused in a sentence and change nothing") {
    Model model(all_weights().front());
    const auto tokens = testing::random_tokens(60, model.vocab(), 15);
    model.forward(tokens);
    const std::vector<Token> none, negative{3, -1}, large{37}, many(11, 0), whole(71, 0);
    CHECK_THROWS_WITH(model.forward(none), ContainsSubstring("at least one token"));
    CHECK_THROWS_WITH(model.forward(negative), ContainsSubstring("token -1 is outside the vocabulary of 37"));
    CHECK_THROWS_WITH(model.forward(large), ContainsSubstring("token 37 is outside"));
    CHECK_THROWS_WITH(model.forward(many), ContainsSubstring("11 tokens behind 60 exceed the context of 70"));
    CHECK_THROWS_WITH(model.score(whole, 1), ContainsSubstring("exceed the context of 70"));
    CHECK_THROWS_WITH(model.score(tokens, 0), ContainsSubstring("the last 0 of 60 positions"));
    CHECK_THROWS_WITH(model.score(tokens, 61), ContainsSubstring("the last 61 of 60 positions"));
    CHECK_THROWS_WITH(model.truncate(61), ContainsSubstring("60 positions to 61"));
    CHECK_THROWS_AS(model.truncate(-1), std::invalid_argument);
    CHECK_THROWS_AS(model.forward(none), std::invalid_argument);
    CHECK(model.length() == 60);
    CHECK(model.forward(std::vector<Token>(10, 0)).rows() == 10);  // exactly full is fine
}

TEST_CASE("the pair that ships has the sizes it says and has learnt English") {
    Model target = Model::load(models / "target_1.8M_int8.bin");
    Model draft = Model::load(models / "draft_230K_kd_int8.bin");
    CHECK(target.parameters() == 1'839'840);
    CHECK(draft.parameters() == 231'744);
    CHECK(target.weight_bytes() == std::filesystem::file_size(models / "target_1.8M_int8.bin") - 32);
    CHECK(target.context() == 256);

    const Tokenizer tokenizer = Tokenizer::load(models / "bpe2048.merges.u16", target.vocab());
    std::vector<Token> text{tokenizer.begin()};
    for (const Token token : tokenizer.encode("It was a dark night, and the old man looked out of the window of his "
                                              "house. \"I do not know,\" said he, \"what I am to do.\"")) {
        text.push_back(token);
    }
    const double target_loss = mean_loss(target, text);
    const double draft_loss = mean_loss(draft, text);
    CAPTURE(target_loss, draft_loss);
    CHECK(target_loss < 3.6);  // a model that knows nothing has log 2048 = 7.6
    CHECK(draft_loss < 4.2);
    CHECK(target_loss < draft_loss);
}

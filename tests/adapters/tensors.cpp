// ONNX Runtime, ONNX Runtime GenAI and OpenVINO: tensors of logits and ids of 64 bits, lists of ids and scores.
#include "adapters/adapters.hpp"
#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace adapters;
using namespace specsample::kernels;

namespace {

/// A tensor [1 x positions x padded vocabulary] of logits, as Ort::Value::GetTensorData<float>() and
/// ov::Tensor::data<float>() give it. The model's head is wider than the tokenizer's vocabulary: the padding holds
/// arbitrary numbers.
struct Tensor {
    static constexpr Index stride = vocab + 20;
    std::vector<float> memory;
    Index positions;

    template <class Scalar = float>
    const Scalar* data() const {
        return memory.data();
    }
};

Tensor infer(std::uint64_t model, std::span<const std::int64_t> input_ids, Index positions) {
    const std::vector<Token> text(input_ids.begin(), input_ids.end());
    Tensor tensor{std::vector<float>(static_cast<std::size_t>(positions * Tensor::stride), 1e30f), positions};
    for (Index i = 0; i < positions; ++i) {
        const auto row =
            logits_after(model, std::span(text).first(text.size() - static_cast<std::size_t>(positions - 1 - i)));
        std::ranges::copy(row, tensor.memory.begin() + i * Tensor::stride);
        numbers::write(tensor.memory[static_cast<std::size_t>((i + 1) * Tensor::stride - 1)], numbers::Special::nan);
    }
    return tensor;
}

}  // namespace

TEST_CASE("ONNX Runtime and OpenVINO: padded tensors of logits and ids of 64 bits") {
    std::vector<std::int64_t> text{1};
    Workspace workspace;
    while (text.size() < 120) {
        const RoundRng rng(7, 0, static_cast<Index>(text.size()));
        std::vector<std::int64_t> input_ids = text;
        std::vector<Tensor> drafted;  // kept until the round ends
        const auto row = [&](Index node) {
            const float* logits = drafted[static_cast<std::size_t>(node)].data<float>();
            return Logits(std::span(logits, static_cast<std::size_t>(vocab)), temperature);
        };
        for (Index node = 0; node < lookahead; ++node) {
            drafted.push_back(infer(1, input_ids, 1));
            input_ids.push_back(specsample::draw(rng.at(Purpose::draft, node), row_weights(row(node))).index);
        }
        const Tensor scored = infer(2, input_ids, lookahead + 1);
        const auto rows = rows_in_memory(scored.data<float>(), scored.positions, vocab, Tensor::stride);
        const auto distributions = [&](Index node) { return Sampled(row(node)); };
        const auto tokens = std::span(input_ids).subspan(text.size());
        const Round round = verify(tokens, distributions, logits_of(rows, temperature), TokenVerification{}, rng,
                                   {.check = Check::every_row}, workspace);
        REQUIRE(round);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    CHECK(std::vector<Token>(text.begin(), text.end()) == dense_text());
}

TEST_CASE("ONNX Runtime and OpenVINO: the same models in a sampler") {
    const auto ids_of = [](std::span<const Token> prefix) {
        return std::vector<std::int64_t>(prefix.begin(), prefix.end());
    };
    Tensor last{};  // a session's output, reused by every call
    const auto draft = [&](std::span<const Token> prefix) {
        last = infer(1, ids_of(prefix), 1);
        return Logits(std::span(last.data<float>(), static_cast<std::size_t>(vocab)), temperature);
    };
    Tensor scored{};
    const auto target = [&](std::span<const Token> prefix, Index n) {
        scored = infer(2, ids_of(prefix), n);
        return logits_of(rows_in_memory(scored.data<float>(), n, vocab, Tensor::stride), temperature);
    };
    Sampler sampler(draft, target, {.lookahead = lookahead, .seed = 7});
    std::vector<Token> text{1};
    const auto expected = dense_text();
    while (text.size() < 120) {
        const Round round = sampler.step(text);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    CHECK(text == expected);
}

TEST_CASE("ONNX Runtime GenAI: lists of ids and scores, best first") {
    struct ScoredToken {
        std::int32_t id;
        float score;
    };
    constexpr std::size_t k = 25;
    const auto search = [](std::uint64_t model, std::span<const Token> prefix) {
        const auto logits = logits_after(model, prefix);
        std::vector<ScoredToken> best;
        for (const Index id : top_of(logits, k))
            best.push_back({static_cast<std::int32_t>(id), logits[static_cast<std::size_t>(id)]});
        std::ranges::sort(best, std::greater(), &ScoredToken::score);
        return best;
    };
    // Ids and scores apart, in the order of the ids: a row that owns what it holds.
    const auto row_of = [](std::vector<ScoredToken> best) {
        std::ranges::sort(best, {}, &ScoredToken::id);
        std::vector<std::int32_t> ids;
        std::vector<float> scores;
        for (const ScoredToken& token : best) {
            ids.push_back(token.id);
            scores.push_back(token.score);
        }
        return Sparse(std::move(ids), Logits(std::move(scores), temperature), vocab);
    };
    const auto model = [&](std::uint64_t which) {
        return [&search, &row_of, which](std::span<const Token> prefix) { return row_of(search(which, prefix)); };
    };
    Sampler sampler(model(1), model(2), {.lookahead = lookahead, .seed = 7});
    std::vector<Token> text{1};
    while (text.size() < 120) {
        const Round round = sampler.step(text);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    CHECK(text == dense_text(k));
}

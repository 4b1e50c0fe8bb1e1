// An engine on OpenVINO: its float16 logits are judged where the inference left them.
//
// The models are generated, so that the program needs no file: two layers of attention with random weights, and a draft
// of one layer that is like it. Three checks: greedy texts are those of plain decoding, sampled texts have the target's
// distribution (chi-square of the first two tokens), and rounds write more than one token.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <openvino/openvino.hpp>
#include <openvino/opsets/opset13.hpp>

#include <specsample/values.hpp>

using specsample::Index;
using specsample::Token;
namespace op = ov::opset13;

namespace {

constexpr Index K = 3, V = 16, D = 32;  // drafted tokens per round; vocabulary; width

/// A causal model with random weights. Each of its slots keeps the logits of its last inference.
class Model {
  public:
    Model(int layers, float noise) : noise_(noise) {
        const auto ids = std::make_shared<op::Parameter>(ov::element::i64, ov::PartialShape{1, -1});
        const auto embedding = weights(V, D, 1), output = weights(V, D, .5f);
        const auto rows = op::Constant::create(ov::element::i64, {}, {0});
        ov::Output<ov::Node> x = std::make_shared<op::Gather>(embedding, ids, rows);
        for (int layer = 0; layer < layers; ++layer) {
            const auto attended = std::make_shared<op::ScaledDotProductAttention>(times(x), times(x), times(x), true);
            x = std::make_shared<op::Tanh>(std::make_shared<op::Add>(x, attended));
        }
        const auto logits = std::make_shared<op::MatMul>(x, output, false, true);
        const auto half = std::make_shared<op::Convert>(logits, ov::element::f16);
        auto compiled = ov::Core().compile_model(
            std::make_shared<ov::Model>(ov::OutputVector{half}, ov::ParameterVector{ids}), "CPU",
            ov::hint::inference_precision(ov::element::f32), ov::inference_num_threads(1));
        for (Index i = 0; i < K; ++i) slots_.push_back(compiled.create_infer_request());
    }

    /// Infer a text in a slot. Returns the logits [count, V] of its last positions, valid until the slot's next use.
    const ov::float16* infer(const std::vector<Token>& text, Index count, Index slot = 0) {
        ov::InferRequest& request = slots_[static_cast<std::size_t>(slot)];
        ov::Tensor ids(ov::element::i64, {1, text.size()});
        std::copy(text.begin(), text.end(), ids.data<std::int64_t>());
        request.set_input_tensor(ids);
        request.infer();
        return request.get_output_tensor().data<ov::float16>() + (std::ssize(text) - count) * V;
    }

  private:
    std::shared_ptr<op::Constant> weights(Index rows, Index columns, float scale) {
        std::vector<float> numbers(static_cast<std::size_t>(rows * columns));
        std::normal_distribution<float> shared, own;
        for (float& number : numbers) number = scale * (shared(shared_) + noise_ * own(own_));
        return op::Constant::create(ov::element::f32,
                                    {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, numbers);
    }
    ov::Output<ov::Node> times(const ov::Output<ov::Node>& x) {
        return std::make_shared<op::MatMul>(x, weights(D, D, 1 / std::sqrt(float(D))), false, true);
    }

    float noise_;
    std::mt19937 shared_{1}, own_{2};
    std::vector<ov::InferRequest> slots_;
};

specsample::Row row_of(const ov::float16* logits, double temperature) {
    return specsample::Row::logits({logits, specsample::Row::Scalar::f16, V}, temperature);
}

/// Write tokens after a text by speculative sampling.
/// @param tally   counts the rounds and their tokens
std::vector<Token> write(Model& draft, Model& target, std::vector<Token> text, Index count, double temperature,
                         std::uint64_t request, specsample::Tally& tally) {
    static specsample::Workspace workspace;
    const specsample::TokenVerification rule;
    for (const Index end = std::ssize(text) + count; std::ssize(text) < end;) {
        const Index start = std::ssize(text);
        const specsample::RoundRng rng(7, request, start);
        std::vector<specsample::Origin> origins;
        for (Index i = 0; i < K; ++i) {
            const auto [token, origin] = draft_token(rule, rng, i, row_of(draft.infer(text, 1, i), temperature));
            text.push_back(token), origins.push_back(origin);
        }
        const specsample::Rows rows(row_of(target.infer(text, K + 1), temperature), K + 1);
        const specsample::Round round =
            verify(std::span(text).last(K), origins, rows, rule, rng, {.max_tokens = end - start}, workspace);
        if (round.fault) throw specsample::Fault(*round.fault, {});
        tally.record(round.counts());
        text.resize(static_cast<std::size_t>(start));
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return text;
}

/// The probabilities of the token after a text.
std::vector<double> next(Model& target, const std::vector<Token>& text) {
    const ov::float16* logits = target.infer(text, 1);
    std::vector<double> probs(logits, logits + V);
    double sum = 0;
    for (double& p : probs) sum += p = std::exp(p);
    for (double& p : probs) p /= sum;
    return probs;
}

}  // namespace

int main() {
    Model target(2, 0), draft(1, .2f);
    specsample::Tally greedy, sampled, longer;

    int equal = 0;
    for (Token first = 0; first < V; ++first) {
        std::vector<Token> plain{first, 3};
        while (plain.size() < 42) {
            const auto probs = next(target, plain);
            plain.push_back(static_cast<Token>(std::max_element(probs.begin(), probs.end()) - probs.begin()));
        }
        equal += write(draft, target, {first, 3}, 40, 0, 0, greedy) == plain;
    }

    constexpr int texts = 20000;
    std::vector<int> found(V * V);
    for (int i = 0; i < texts; ++i) {
        const auto text = write(draft, target, {5, 3}, 2, 1, static_cast<std::uint64_t>(i), sampled);
        ++found[static_cast<std::size_t>(text[2] * V + text[3])];
    }
    double statistic = 0;
    int degrees = 0;
    const auto first = next(target, {5, 3});
    for (Token a = 0; a < V; ++a) {
        const auto second = next(target, {5, 3, a});
        for (Token b = 0; b < V; ++b) {
            const double expected = texts * first[std::size_t(a)] * second[std::size_t(b)];
            if (expected < 5) continue;  // too few for a normal distribution
            statistic += std::pow(found[static_cast<std::size_t>(a * V + b)] - expected, 2) / expected;
            ++degrees;
        }
    }
    write(draft, target, {5, 3}, 500, 1, 0, longer);

    const double bound = degrees + 5 * std::sqrt(2.0 * degrees);  // chi-square is above it once in some 100000 runs
    std::printf("greedy texts equal to plain decoding: %d of %d, %.2f tokens per round\n", equal, int(V),
                greedy.tokens_per_round());
    std::printf("first two tokens of %d texts: chi-square %.0f, %d degrees of freedom\n", texts, statistic, degrees);
    std::printf("at temperature 1: %.2f tokens per round\n", longer.tokens_per_round());
    return equal == V && statistic < bound && longer.tokens_per_round() > 1.2 ? 0 : 1;
}

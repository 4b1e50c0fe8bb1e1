// An engine's loop over the logits of a real inference runtime, and what must hold of its texts: greedy ones are those
// of plain decoding, sampled ones have the target's distribution (chi-square of the first two tokens), and a round
// writes more than one token.
//
// A model has infer(text, count, slot), which returns the float16 logits [count, V] of the last positions of a text
// where the runtime left them. They stay valid until the next use of the slot; there are K slots.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/values.hpp>

namespace engine_checks {

using specsample::Index;
using specsample::Token;

constexpr Index K = 3, V = 16, D = 32;  // drafted tokens per round; vocabulary; width of the models

/// The weights of a generated model: random, and the same for all models but for the noise.
class Weights {
  public:
    explicit Weights(float noise) : noise_(noise) {}

    /// Return the numbers of the next matrix.
    std::vector<float> operator()(Index rows, Index columns, float scale) {
        std::vector<float> numbers(static_cast<std::size_t>(rows * columns));
        std::normal_distribution<float> shared, own;
        for (float& number : numbers) number = scale * (shared(shared_) + noise_ * own(own_));
        return numbers;
    }

  private:
    float noise_;
    std::mt19937 shared_{1}, own_{2};
};

inline specsample::Row row_of(const void* logits, double temperature) {
    return specsample::Row::logits({logits, specsample::Row::Scalar::f16, V}, temperature);
}

/// Write tokens after a text by speculative sampling.
/// @param tally   counts the rounds and their tokens
template <class Model>
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
            text.push_back(token);
            origins.push_back(origin);
        }
        const specsample::Rows rows(row_of(target.infer(text, K + 1, 0), temperature), K + 1);
        const specsample::Round round =
            verify(std::span(text).last(K), origins, rows, rule, rng, {.max_tokens = end - start}, workspace);
        if (round.fault) throw specsample::Fault(*round.fault, {});
        tally.record(round.counts());
        text.resize(static_cast<std::size_t>(start));
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
    }
    return text;
}

/// Return the probabilities of the token after a text.
template <class Model>
std::vector<double> next(Model& target, const std::vector<Token>& text) {
    const auto* const logits = static_cast<const Eigen::half*>(target.infer(text, 1, 0));
    std::vector<double> probs;
    double sum = 0;
    for (Index id = 0; id < V; ++id) sum += probs.emplace_back(std::exp(static_cast<double>(logits[id])));
    for (double& p : probs) p /= sum;
    return probs;
}

/// Check the texts of a pair of models, and print what was found.
/// @returns   the exit status of the program
template <class Model>
int check(Model& draft, Model& target) {
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

}  // namespace engine_checks

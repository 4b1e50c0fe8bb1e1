// What two engines compute per round, written anew from a description of their loops: plain scalar loops over the
// vocabulary, which a compiler may vectorise.
#pragma once

#include "textbook.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace bench::peers {

using specsample::Purpose;
using specsample::Token;

/// The first token at which the running sum of weights reaches u times their sum.
inline Index scan(const std::vector<float>& weights, float sum, double u) {
    const float random = static_cast<float>(u) * sum;
    float passed = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        passed += weights[i];
        if (passed > random) return static_cast<Index>(i);
    }
    return std::ssize(weights) - 1;
}

/// MLC LLM: accepts token by token, then stores the residual, divides it by its sum and scans it.
/// @param at   maps a position to the target's and the draft's probabilities
template <class At>
textbook::Ending mlc_round(std::span<const Token> tokens, const At& at, const specsample::RoundRng& rng) {
    Index accepted = 0;
    for (; accepted < std::ssize(tokens); ++accepted) {
        const auto& [target, draft] = at(accepted);
        const Token token = tokens[static_cast<std::size_t>(accepted)];
        const double u = rng.at(Purpose::accept, accepted).uniform();
        if (target[token] < draft[token] && !(u < static_cast<double>(target[token] / draft[token]))) break;
    }
    const auto& [target, draft] = at(accepted);
    const bool is_rejected = accepted < std::ssize(tokens);
    std::vector<float> weights(static_cast<std::size_t>(target.size()));
    float sum = 0;
    for (Index i = 0; i < target.size(); ++i) {
        const float weight = is_rejected ? std::max(target[i] - draft[i], 0.f) : target[i];
        sum += weights[static_cast<std::size_t>(i)] = weight;
    }
    for (float& weight : weights) weight /= sum;
    return {accepted, scan(weights, 1, rng.at(Purpose::last, 0).uniform())};
}

/// OpenVINO GenAI: at every position that is reached, a softmax of the target's logits in memory of its own, a draw
/// from it, and a comparison with the drafted token.
template <class TargetAt>
textbook::Ending openvino_round(std::span<const Token> tokens, const TargetAt& target,
                                const specsample::RoundRng& rng) {
    for (Index i = 0;; ++i) {
        const Row logits = target(i);
        float largest = logits[0], sum = 0;
        for (const float logit : logits) largest = std::max(largest, logit);
        std::vector<float> weights(static_cast<std::size_t>(logits.size()));
        for (Index id = 0; id < logits.size(); ++id)
            sum += weights[static_cast<std::size_t>(id)] = std::exp(logits[id] - largest);
        for (float& weight : weights) weight /= sum;
        const Index drawn = scan(weights, 1, rng.at(Purpose::race, i).uniform());
        if (i == std::ssize(tokens) || drawn != tokens[static_cast<std::size_t>(i)]) return {i, drawn};
    }
}

}  // namespace bench::peers

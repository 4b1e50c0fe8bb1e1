// The textbook's form of speculative sampling: its formulas written in Eigen, as one would without this library.
//
// Its running sum is a float, so at large vocabularies it may draw another token than an exact scan for the same random
// number.
#pragma once

#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <specsample/kernels.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/random.hpp>

namespace bench::textbook {

using specsample::Token;

/// ln sum exp.
template <class Logits>
float log_sum_exp(const Logits& logits) {
    const Eigen::ArrayXf x = logits.template cast<float>();
    const float largest = x.maxCoeff();
    return largest + std::log((x - largest).exp().sum());
}
inline float log_sum_exp(const Row& logits) {
    const float largest = logits.maxCoeff();
    return largest + std::log((logits - largest).exp().sum());
}

template <class Logits>
Eigen::ArrayXf softmax(const Logits& logits, float temperature = 1) {
    Eigen::ArrayXf probs = logits.template cast<float>();
    if (temperature != 1) probs /= temperature;
    probs = (probs - probs.maxCoeff()).exp();
    probs /= probs.sum();
    return probs;
}

/// Inverse CDF: the first token at which the running sum passes u.
template <class Probs>
Index draw(const Probs& probs, double u) {
    const float random = static_cast<float>(u);
    float sum = 0;
    for (Index i = 0; i < probs.size(); ++i) {
        sum += static_cast<float>(probs[i]);
        if (random < sum) return i;
    }
    return probs.size() - 1;
}

/// max(0, p - q), normalised.
template <class Target, class Draft>
Eigen::ArrayXf residual(const Draft& draft, const Target& target) {
    Eigen::ArrayXf weights = (target.template cast<float>() - draft.template cast<float>()).cwiseMax(0);
    weights /= weights.sum();
    return weights;
}

template <class Probs>
Index argmax(const Probs& probs) {
    Index id = 0;
    probs.maxCoeff(&id);
    return id;
}

/// Gumbel-max: the argmax of log-probabilities, or of logits, plus Gumbel noise.
template <class Logs>
Index gumbel(const Logs& logs, const specsample::Rng& random) {
    Eigen::ArrayXf noise(logs.size());
    for (Index i = 0; i < noise.size(); ++i)
        noise[i] = static_cast<float>(random.open_uniform(static_cast<std::uint32_t>(i)));
    const Eigen::ArrayXf arrivals = logs - (-noise.log()).log();
    return argmax(arrivals);
}

/// The winner of a race whose noise is drawn in blocks of 64 ids, every time taken. Of a block's number the last six of
/// 52 bits say which id is first, the others when.
inline Index race(const Eigen::ArrayXd& probs, const specsample::Rng& random) {
    Eigen::ArrayXd times(probs.size());
    for (Index i = 0; i < times.size(); ++i) {
        const double cells = random.open_uniform(0x8000'0000u | static_cast<std::uint32_t>(i / 64)) * 0x1p46;
        const double least = -std::log((std::floor(cells) + .5) * 0x1p-46) / 64;
        const auto first = static_cast<Index>((cells - std::floor(cells)) * 64);
        const double waits = -std::log(random.open_uniform(static_cast<std::uint32_t>(i)));
        times[i] = (least + (i % 64 == first ? 0 : waits)) / probs[i];
    }
    return argmax(-times);
}

/// Top-k `most`, then top-p `mass`, then min-p `share`, renormalised, by a sort of all tokens.
inline Eigen::ArrayXf likeliest(Eigen::ArrayXf probs, Index most, float mass, float share = 0) {
    std::vector<Token> ids(static_cast<std::size_t>(probs.size()));
    std::iota(ids.begin(), ids.end(), Token{0});
    std::ranges::sort(ids, [&](Token a, Token b) { return probs[a] > probs[b]; });
    ids.resize(static_cast<std::size_t>(std::min(most, probs.size())));
    float sum = 0, kept = 0;
    for (const Token id : ids) sum += probs[id];
    Eigen::ArrayXf result = Eigen::ArrayXf::Zero(probs.size());
    for (const Token id : ids) {
        if (kept >= mass * sum || probs[id] < share * probs[ids.front()]) break;
        kept += result[id] = probs[id];
    }
    result /= kept;
    return result;
}

/// The tokens whose surprisal is closest to the entropy, up to a mass.
inline Eigen::ArrayXf typical(const Eigen::ArrayXf& probs, float mass) {
    const Eigen::ArrayXf surprisals = -probs.max(std::numeric_limits<float>::min()).log();
    const Eigen::ArrayXf distances = (surprisals - (probs * surprisals).sum()).abs();
    std::vector<Token> ids(static_cast<std::size_t>(probs.size()));
    std::iota(ids.begin(), ids.end(), Token{0});
    std::ranges::sort(ids, [&](Token a, Token b) { return distances[a] < distances[b]; });
    Eigen::ArrayXf result = Eigen::ArrayXf::Zero(probs.size());
    float kept = 0;
    for (auto id = ids.begin(); id != ids.end() && kept < mass; ++id) kept += result[*id] = probs[*id];
    return result / kept;
}

inline bool accept(double u, float p, float q) { return u < std::min(1.f, p / q); }

inline bool is_distribution(const Row& row) {
    return row.allFinite() && row.minCoeff() >= 0 &&
           std::abs(row.sum() - 1) <= specsample::kernels::sum_tolerance<float>;
}

/// The end of a round: the number of accepted tokens, and its last token.
struct Ending {
    Index accepted;
    Index last;
};

/// One round of token verification.
/// @param at   maps i to the target's and the draft's probabilities at the position of drafted token i, and at the one
///             after the last token
template <class At>
Ending round(std::span<const Token> tokens, const At& at, const specsample::RoundRng& rng) {
    const auto count = static_cast<Index>(tokens.size());
    const double u = rng.at(specsample::Purpose::last, 0).uniform();
    for (Index i = 0; i < count; ++i) {
        const auto& [target, draft] = at(i);
        const Token token = tokens[static_cast<std::size_t>(i)];
        if (!accept(rng.at(specsample::Purpose::accept, i).uniform(), target[token], draft[token]))
            return {i, draw(residual(draft, target), u)};
    }
    return {count, draw(at(count).target, u)};
}

/// The residual after a rejection, not normalised.
inline Eigen::ArrayXd residual(const Contents& distributions) {
    return (distributions.target - distributions.draft).cwiseMax(0);
}

/// The share of the weights strictly between two tokens: random numbers that pick the two differ by at least that much.
inline double distance(const Eigen::ArrayXd& weights, Index a, Index b) {
    const Index first = std::min(a, b) + 1;
    return weights.segment(first, std::max<Index>(0, std::max(a, b) - first)).sum() / weights.sum();
}

/// The distance allowed between two exact forms of a draw: a running float sum of 262144 entries is off by up to 1e-3.
inline constexpr double rounding = 2e-3;

}  // namespace bench::textbook

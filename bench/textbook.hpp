// Speculative sampling as a textbook's formulas read in Eigen: what one writes without this library.
//
// Its running sum is a float, so at large vocabularies it draws another token than an exact scan for the same coin.
#pragma once

#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <specsample/kernels.hpp>
#include <specsample/random.hpp>

namespace bench::textbook {

using specsample::Token;

/// Inverse CDF: the first token at which the running sum passes u.
template <class Probs>
Index draw(const Probs& probs, double u) {
    const float coin = static_cast<float>(u);
    float sum = 0;
    for (Index i = 0; i < probs.size(); ++i) {
        sum += probs[i];
        if (coin < sum) return i;
    }
    return probs.size() - 1;
}

/// max(0, p - q), normalised.
inline Eigen::ArrayXf residual(const Pair& at) {
    Eigen::ArrayXf weights = (at.target - at.draft).cwiseMax(0);
    weights /= weights.sum();
    return weights;
}

inline bool accept(double u, const Pair& at, Token token) {
    return u < std::min(1.f, at.target[token] / at.draft[token]);
}

inline bool is_distribution(const Row& row) {
    return row.allFinite() && row.minCoeff() >= 0 && std::abs(row.sum() - 1) <= specsample::sum_tolerance<float>;
}

/// How a round ended.
struct Ending {
    Index accepted;
    Index last;
};

/// One round: drafted tokens `tokens`, the rows of position `first` and those that follow it.
inline Ending round(std::span<const Token> tokens, const Pool& rows, Index first, const specsample::Coins& coins) {
    const auto count = static_cast<Index>(tokens.size());
    const double u = coins.at(specsample::Purpose::last, 0).uniform();
    for (Index i = 0; i < count; ++i) {
        const Pair at = rows[first + i];
        if (!accept(coins.at(specsample::Purpose::accept, i).uniform(), at, tokens[static_cast<std::size_t>(i)]))
            return {i, draw(residual(at), u)};
    }
    return {count, draw(rows[first + count].target, u)};
}

/// The share of the weights strictly between two tokens: by how much the coins that led there differ at least.
template <specsample::Weights W>
double distance(const W& weights, Index a, Index b) {
    const Index first = std::min(a, b) + 1;
    const Index count = std::max<Index>(0, std::max(a, b) - first);
    return weights.sum(first, count) / weights.sum(0, weights.size());
}

/// How far two exact forms of a draw may lie apart: a running float sum of 262144 entries is off by up to 1e-3.
inline constexpr double rounding = 2e-3;

}  // namespace bench::textbook

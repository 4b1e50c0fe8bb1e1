// The expected number of tokens that a round emits, and the three rates that are all called "acceptance rate".
//
//   expected_tokens(alpha, lookahead)   tokens per round for independent acceptance
//
//   ConditionalRate   accepted / evaluated                   alpha, which all formulas take
//   DraftedRate       accepted / drafted                     found in most engines' logs
//   CapacityRate      tokens / (rounds * (lookahead + 1))    the share of the most that a round can emit
//
// All conversions assume independent acceptance (`expected_tokens`); K = lookahead, N = N(alpha, K).
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Check an acceptance and a lookahead, the arguments of most formulas in theory/.
inline void require_drafting(std::string_view where, double alpha, Index lookahead) {
    require(alpha >= 0 && alpha <= 1, where, "alpha", alpha, "in [0, 1]");
    require(lookahead >= 0, where, "lookahead", lookahead, "0 or more");
}

/// Compute 1 + x + ... + x^(terms - 1) for x in [0, 1], by doubling: S(2n) = S(n) (1 + x^n), S(n + 1) = 1 + x S(n).
/// Nothing is subtracted, so x = 1 is exact and x near 1 loses no digits, while (1 - x^n) / (1 - x) loses all of them.
[[nodiscard]] inline double geometric_sum(double x, Index terms) {
    double sum = 0.0, power = 1.0;
    for (auto bit = std::bit_floor(static_cast<std::uint64_t>(terms)); bit != 0; bit >>= 1) {
        sum *= 1.0 + power;
        power *= power;
        if ((static_cast<std::uint64_t>(terms) & bit) == 0) continue;
        sum = 1.0 + x * sum;
        power *= x;
    }
    return sum;
}

}  // namespace detail

namespace theory {

/// Compute the expected tokens of a round that drafts `lookahead` tokens, each accepted with probability `alpha` if
/// reached.
///
///     N(alpha, K) = 1 + alpha + ... + alpha^K = (1 - alpha^(K+1)) / (1 - alpha)
///
/// This is exact for token verification with independent acceptance. If acceptance varies between texts or rounds, the
/// mean is above N(mean alpha), because N is convex (half of all rounds at alpha .5, half at 1, K = 5: 3.98; N(.75) is
/// 3.29).
///
/// @param alpha       conditional acceptance, in [0, 1]
/// @param lookahead   drafted tokens per round, 0 or more
/// @returns           tokens per round, the last one included: in [1, lookahead + 1]
/// @throws            std::invalid_argument for an argument outside its range
/// @cost              O(log lookahead)
/// @edge              alpha 1: lookahead + 1, exactly; alpha 0 or lookahead 0: 1
/// @source            Leviathan et al. 2023, arXiv:2211.17192, equation (1)
[[nodiscard]] inline double expected_tokens(double alpha, Index lookahead) {
    detail::require_drafting("expected_tokens", alpha, lookahead);
    return detail::geometric_sum(alpha, lookahead + 1);
}

/// Accepted over evaluated: the probability that a drafted token is accepted if it is judged. Only this rate converts
/// to double, because `expected_tokens`, `speedup` and `best_lookahead` take it.
struct ConditionalRate {
    double value;

    constexpr operator double() const { return value; }
};

/// Accepted over drafted: (N - 1) / K. If 3.2 of 4 drafted tokens are accepted, this rate is .8 and the conditional
/// rate .913.
struct DraftedRate {
    double value;
};

/// Tokens over rounds * (lookahead + 1): N / (K + 1). At least 1 / (K + 1), because every round emits a token.
struct CapacityRate {
    double value;
};

}  // namespace theory

namespace detail {

/// Find by bisection the alpha at which a round of this lookahead (1 or more) is expected to emit `tokens`. N rises
/// with slope 1 or more, so 60 halvings determine alpha to the precision of a double.
[[nodiscard]] inline double alpha_of_tokens(double tokens, Index lookahead) {
    double low = 0.0, high = 1.0;
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = 0.5 * (low + high);
        (geometric_sum(middle, lookahead + 1) < tokens ? low : high) = middle;
    }
    return high;
}

}  // namespace detail

namespace theory {

/// Convert a conditional acceptance to the accepted-over-drafted rate: (N - 1) / K.
/// @throws   std::invalid_argument for a rate outside [0, 1] or a lookahead below 1 (nothing is drafted)
[[nodiscard]] inline DraftedRate drafted_rate(ConditionalRate rate, Index lookahead) {
    detail::require(lookahead >= 1, "drafted_rate", "lookahead", lookahead, "1 or more");
    detail::require_drafting("drafted_rate", rate.value, lookahead);
    // (N(alpha, K) - 1) / K = alpha N(alpha, K - 1) / K, without the cancellation
    return {rate.value * detail::geometric_sum(rate.value, lookahead) / static_cast<double>(lookahead)};
}

/// Convert a conditional acceptance to the share of a round's capacity: N / (K + 1).
/// @throws   std::invalid_argument for a rate outside [0, 1] or a lookahead below 0
/// @edge     lookahead 0: 1, whatever the acceptance
[[nodiscard]] inline CapacityRate capacity_rate(ConditionalRate rate, Index lookahead) {
    detail::require_drafting("capacity_rate", rate.value, lookahead);
    return {detail::geometric_sum(rate.value, lookahead + 1) / static_cast<double>(lookahead + 1)};
}

/// Find the conditional acceptance that gives this accepted-over-drafted rate.
/// @throws     std::invalid_argument for a rate outside [0, 1] or a lookahead below 1
/// @accuracy   1e-12
[[nodiscard]] inline ConditionalRate conditional_rate(DraftedRate rate, Index lookahead) {
    constexpr auto where = "conditional_rate";
    detail::require(lookahead >= 1, where, "lookahead", lookahead, "1 or more");
    detail::require(rate.value >= 0 && rate.value <= 1, where, "accepted over drafted", rate.value, "in [0, 1]");
    return {detail::alpha_of_tokens(1.0 + rate.value * static_cast<double>(lookahead), lookahead)};
}

/// Find the conditional acceptance that fills this share of a round's capacity: .8 at lookahead 4 gives .8882.
/// @throws     std::invalid_argument for a rate outside [1 / (lookahead + 1), 1], or a lookahead below 1: at lookahead
///             0 every acceptance gives the rate 1
/// @accuracy   1e-12
[[nodiscard]] inline ConditionalRate conditional_rate(CapacityRate rate, Index lookahead) {
    constexpr auto where = "conditional_rate";
    detail::require(lookahead >= 1, where, "lookahead", lookahead, "1 or more");
    const double capacity = static_cast<double>(lookahead + 1);
    detail::require(rate.value >= 1.0 / capacity && rate.value <= 1, where, "tokens over capacity", rate.value,
                    "in [1 / (lookahead + 1), 1]");
    return {detail::alpha_of_tokens(rate.value * capacity, lookahead)};
}

}  // namespace theory

}}  // namespace specsample

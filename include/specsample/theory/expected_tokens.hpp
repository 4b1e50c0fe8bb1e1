// The expected number of tokens that a round emits.
//
//   expected_tokens(alpha, lookahead)   tokens per round for independent acceptance
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

}  // namespace theory

}}  // namespace specsample

// The best number of tokens to draft when acceptance and costs are known and fixed.
//
//   best_lookahead(alpha, draft_cost, verify_cost, max)   the integer optimum, for any cost of verification
//   continuous_lookahead(alpha, draft_cost)               the optimum over real numbers, in closed form (flat cost)
#pragma once

#include <cmath>

#include <specsample/core/number.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace theory {

/// Find the lookahead in [0, max] with the largest `speedup`; on ties, the smallest. 0 means: do not speculate.
///
///     argmax over K of N(alpha, K) / (K c + cost(K + 1))
///
/// Under `FlatCost` the speed-up has one peak, at the smallest K with alpha^(K+1) (1 + c K) <= c N(alpha, K). With a
/// measured cost it may have several, so every K is tried.
///
/// @param alpha, draft_cost, verify_cost   as in `speedup`
/// @param max                              the largest lookahead to consider, 0 or more
/// @throws                                 std::invalid_argument if max is negative, or if `speedup` throws for any
///                                         lookahead up to max; a table therefore needs max + 1 entries
/// @cost                                   O(max log max), max + 1 evaluations of verify_cost
/// @edge                                   alpha <= draft_cost under `FlatCost`: 0; draft_cost 0 and alpha 1: max
template <VerifyCost Cost>
[[nodiscard]] Index best_lookahead(double alpha, double draft_cost, const Cost& verify_cost, Index max) {
    constexpr auto where = "best_lookahead";
    detail::require(max >= 0, where, "max", max, "0 or more");
    Index best = 0;
    double fastest = 0.0;
    for (Index lookahead = 0; lookahead <= max; ++lookahead) {
        const double speed = detail::speedup(where, alpha, lookahead, draft_cost, verify_cost);
        if (speed <= fastest) continue;
        fastest = speed;
        best = lookahead;
    }
    return best;
}

}  // namespace theory

namespace detail {

/// Find the y >= 0 with y - ln(1 + y) = u, for u >= 0: y = -W_{-1}(-e^(-1-u)) - 1 on Lambert's lower branch, in a form
/// that cannot underflow. Newton's method on a convex function starts from u + sqrt(2u), which is above the root
/// (Chatzigeorgiou 2013, arXiv:1601.04895, Theorem 1), and descends until rounding stops it.
[[nodiscard]] inline double lambert_excess(double u) {
    double y = u + std::sqrt(2.0 * u);
    for (;;) {
        const double next = y - (y - std::log1p(y) - u) * (1.0 + y) / y;
        if (!(next < y)) return y;
        y = next;
    }
}

}  // namespace detail

namespace theory {

/// Compute the real K at which the flat-cost speed-up N(alpha, K) / (1 + c K) peaks; it is within 1 of the integer
/// optimum.
///
///     K = (A - z) / ln(alpha) - 1;      A = 1 - ln(alpha) (1/c - 1),      z = -W_{-1}(-e^(-A))
///
/// @param alpha        conditional acceptance, in [0, 1): at 1 the speed-up rises with K for ever
/// @param draft_cost   c: time of one draft pass over the time of one plain target pass, above 0: at 0 there is no peak
/// @throws             std::invalid_argument for an argument outside its range
/// @edge               alpha <= draft_cost: 0, because no whole number of drafted tokens gains
/// @source             the root of dS/dK = 0 for the S of arXiv:2211.17192, Theorem 3.8
[[nodiscard]] inline double continuous_lookahead(double alpha, double draft_cost) {
    constexpr auto where = "continuous_lookahead";
    detail::require(alpha >= 0 && alpha < 1, where, "alpha", alpha, "in [0, 1)");
    detail::require(detail::is_finite(draft_cost) && draft_cost > 0, where, "draft_cost", draft_cost,
                    "finite and above 0");
    if (alpha <= draft_cost) return 0.0;
    const double decay = -std::log(alpha);
    const double y = detail::lambert_excess(decay * (1.0 / draft_cost - 1.0));  // A = 1 + u, z = 1 + y, A - z = -ln z
    return std::log1p(y) / decay - 1.0;
}

}  // namespace theory

}}  // namespace specsample

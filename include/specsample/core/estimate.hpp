// The acceptance estimated from counts, with a confidence interval.
//
//   estimate_acceptance(accepted, evaluated)   the ratio with its Wilson score interval
#pragma once

#include <cmath>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace metrics {

/// A probability estimated from counts: 0 <= low <= value <= high <= 1.
struct Estimate {
    double value = 0.0;  ///< the estimate
    double low = 0.0;    ///< the lower end of its confidence interval
    double high = 1.0;   ///< the upper end

    friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// The half width, in standard deviations, of a two-sided 95 % interval.
inline constexpr double z95 = 1.96;

/// Estimate the conditional acceptance from counted decisions, with the Wilson score interval.
///
///     value = a / n;      interval = (value + z^2/2n -+ z sqrt(value (1 - value) / n + z^2/4n^2)) / (1 + z^2/n)
///
/// The denominator n counts evaluated tokens, not drafted ones. Whether a position is evaluated depends only on the
/// decisions before it, so accepted - alpha * evaluated is a martingale, and the ratio of the sums is the
/// maximum-likelihood estimate of alpha. Positions after a rejection were never decided: accepted / drafted counts them
/// as failures and gives .388 where alpha is .7 (lookahead 5). The mean of per-round ratios is biased too: add up
/// counts first.
///
/// The interval assumes decisions that are independent given alpha. If acceptance varies between texts, the true spread
/// is larger: compare texts with each other before trusting a narrow interval. Where a walk decides several positions
/// jointly (block and traversal verification), the ratio describes the walk and is not sum min(p, q).
///
/// @param accepted    0 <= accepted <= evaluated
/// @param evaluated   decided positions: accepted ones and rejections
/// @param z           half width in standard deviations: 1.96 for 95 %, 2.576 for 99 %, 0 for the value alone
/// @throws            std::invalid_argument for counts or z outside these ranges
/// @edge              nothing evaluated: value 0, interval [0, 1]; the interval stays inside [0, 1]
/// @source            Wilson 1927, JASA 22:209
[[nodiscard]] inline Estimate estimate_acceptance(Index accepted, Index evaluated, double z = z95) {
    constexpr auto where = "estimate_acceptance";
    detail::require(evaluated >= 0, where, "evaluated", evaluated, "0 or more");
    detail::require(accepted >= 0 && accepted <= evaluated, where, "accepted", accepted, "in [0, evaluated]");
    detail::require(detail::is_finite(z) && z >= 0, where, "z", z, "finite and 0 or more");
    if (evaluated == 0) return {};
    const double n = static_cast<double>(evaluated);
    const double value = static_cast<double>(accepted) / n;
    const double scale = 1.0 + z * z / n;
    const double center = (value + z * z / (2.0 * n)) / scale;
    const double half = z * std::sqrt(value * (1.0 - value) / n + z * z / (4.0 * n * n)) / scale;
    return {value, std::fmin(std::fmax(center - half, 0.0), value), std::fmin(std::fmax(center + half, value), 1.0)};
}

}  // namespace metrics

}}  // namespace specsample

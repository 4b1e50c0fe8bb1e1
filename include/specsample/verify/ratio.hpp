// Acceptance probabilities, where a row's sum may not be known yet.
//
// A row of 16-bit numbers sums to 1 only within a percent, a row of 32-bit numbers within a thousandth. A rule judges
// the row divided by its sum, and finding the sum takes a pass. But the random number of an acceptance is seldom so
// close to the ratio that the last percent matters: a ratio known within a slack nearly always decides, and the sums
// are found only if it does not. The decision is the same as with known sums.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace walks {

/// A probability min(1, s / q), as the two numbers that `accept` takes.
struct Ratio {
    double s = 0;
    double q = 1;
    double slack = 0;  ///< neither s / q nor the exact ratio is more than 1 + slack times the other

    /// Return the probability; 0 for 0 / 0, which is what is left of a residual that rounding made empty.
    double probability() const { return s > 0 ? std::min(1.0, s / q) : 0; }
};

/// The sum of a row's weights if it is known; otherwise 1, and the largest deviation of the sum from 1.
struct RoughSum {
    double value = 1;
    double deviation = 0;

    /// Return the slack of a ratio of two weights, one divided by this sum and the other by another sum.
    double slack_beside(const RoughSum& other) const {
        const double below = (1 - deviation) * (1 - other.deviation), above = (1 + deviation) * (1 + other.deviation);
        return std::max(above, 1 / below) - 1;
    }
};

/// Decide an acceptance. The rows are summed only if the random number is within the ratio's slack.
/// @param exact   exact() -> Ratio without slack
/// @draws         one; none where s >= 1 and s >= q, in this ratio and in the exact one
template <class Rng, class Exact>
bool accept_ratio(const Rng& rng, const Ratio& ratio, const Exact& exact) {
    const double at_most = ratio.q * (1 + ratio.slack);
    if (ratio.slack == 0 || (ratio.s >= 1 && ratio.s >= at_most)) return accept(rng, ratio.s, at_most);
    // A token that is certain to be accepted takes no random number. So where a token may be certain, its exact ratio
    // is found first. A source without uniform() decides by itself.
    if constexpr (requires { rng.uniform(); }) {
        if (ratio.s < 1 || ratio.s < ratio.q) {
            const double u = rng.uniform();
            if (detail::is_accepted(u, ratio.s, at_most)) return true;
            if (!detail::is_accepted(u, ratio.s * (1 + ratio.slack), ratio.q)) return false;
            const Ratio summed = exact();
            return detail::is_accepted(u, summed.s, summed.q);
        }
    }
    const Ratio summed = exact();
    return accept(rng, summed.s, summed.q);
}

}  // namespace walks

namespace detail {

/// Tell whether a good row may have this sum.
template <class View>
EIGEN_ALWAYS_INLINE bool may_sum_to(const View& view, double sum) {
    return is_finite(sum) && std::abs(sum - 1) <= tolerance_of(view);
}

}  // namespace detail

}}  // namespace specsample

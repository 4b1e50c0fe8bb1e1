// Acceptance probabilities, where a row's sum may not be known yet.
//
// A row of 16 bits sums to 1 within a percent only, one of 32 bits within a thousandth. What a rule judges is the row
// divided by its sum, which takes a pass to find. But the random number of an acceptance is seldom so close to the
// ratio that the last percent decides: a ratio known within a slack decides nearly always, and the sums are found when
// it does not. The decision is the same.
#pragma once

#include <cmath>

#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace walks {

/// A probability min(1, s / q), as the two numbers that `accept` takes.
struct Ratio {
    double s = 0;
    double q = 1;
    double slack = 0;  ///< between this s / q and the exact one: neither is more than 1 + slack times the other
};

/// The sum of a row's weights, if known; otherwise 1, and its largest deviation from that.
struct RoughSum {
    double value = 1;
    double deviation = 0;

    /// The slack of a ratio of weights, one divided by this sum and one by another.
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
    // A token that may be forced takes no random number before that is known, and a source without numbers decides by
    // itself.
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

/// The sum of a row.
/// @cost   one pass; none for logits that were normalised here
template <class View>
double sum_of(const View& view) {
    return sum_deviation(view) == 0 ? 1 : kernels::BlockSums(kernels::RowWeights<View>(view)).total();
}

/// Whether a row may have this sum.
template <class View>
bool may_sum_to(double sum) {
    return is_finite(sum) && std::abs(sum - 1) <= tolerance_of<View>;
}

}  // namespace detail

}}  // namespace specsample

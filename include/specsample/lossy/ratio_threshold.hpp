// A threshold on p/q instead of the random acceptance test.
//
// Tutorials state this rule as "accept if p/q >= 0.8".
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/relaxed.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// Accept x if p(x) / q(x) >= t, else draw from max(0, p - q), or from p if that residual is 0 everywhere.
///
/// No t is lossless: t = 1 accepts with the probability that q has on the ids with p >= q. A token of target
/// probability 0 is never accepted.
///
/// @param t   > 0
/// @draws     one last-token draw; acceptance uses none
/// @cost      the cost of TokenVerification, plus one pass for each row whose sum is not known
struct RatioThreshold {
    static constexpr bool lossless = false;

    double t = 1;

    void check() const { detail::require(detail::is_positive(t), "RatioThreshold", "t", t, "a positive number"); }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return top_down_relaxed(context, [&](const walks::Ratio& exact) {
            return walks::Ratio{exact.s > 0 && exact.s >= t * exact.q ? 1.0 : 0.0, 1};
        });
    }

    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return detail::indicator(at.p.size(), [&](Index id) { return at.p[id] > 0 && at.p[id] >= t * at.q[id]; });
    }

    /// Compute the output distribution at one position.
    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, at.q));
    }
};

}  // namespace lossy

}}  // namespace specsample

// A threshold in the place of the random draw: a drafted token is accepted or not, for good.
//
// Found in tutorials as "accept if p/q >= 0.8".
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/relaxed.hpp>

namespace specsample {

namespace lossy {

/// Accept x if p(x) / q(x) >= t, and draw from max(0, p - q) where it is not; from p where that is nothing.
///
/// No t is lossless: t = 1 accepts with probability sum q over p >= q. A token without target weight is never accepted.
///
/// @param t   > 0
/// @draws the last one; no random draw decides an acceptance. Cost: that of token verification.
struct RatioThreshold {
    static constexpr bool lossless = false;

    double t = 1;

    void check() const { detail::require(detail::is_positive(t), "RatioThreshold", "t", t, "a positive number"); }

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        check();
        return top_down_relaxed(context, [&](const walks::Ratio& exact) {
            return walks::Ratio{exact.s > 0 && exact.s >= t * exact.q ? 1.0 : 0.0, 1};
        });
    }

    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return detail::indicator(at.p.size(), [&](Index id) { return at.p[id] > 0 && at.p[id] >= t * at.q[id]; });
    }

    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, at.q));
    }
};
}  // namespace lossy

}  // namespace specsample

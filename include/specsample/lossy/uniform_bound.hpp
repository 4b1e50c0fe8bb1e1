// An acceptance test with a random number that is uniform on [0, b] instead of [0, 1]; a tutorial ("toyllm") offers it
// as an option.
#pragma once

#include <algorithm>

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/relaxed.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// Accept x if r < min(1, p(x)/q(x)) for r uniform on [0, b].
///
///     b <= 1    accepts with probability min(1, p / (b q)): lenience with l = b
///     b > 1     accepts with probability min(1, p / q) / b: less than the exact rule, and lossy all the same
///
/// The last token after a rejection is drawn from max(0, p - q), or from p if that residual is 0 everywhere.
///
/// @param b   > 0; 1 is lossless
/// @draws     as TokenVerification: one accept draw per token judged, one last-token draw
/// @cost      the cost of TokenVerification, plus one pass for each row whose sum is not known
struct UniformBound {
    static constexpr bool lossless = false;

    double b = 1;

    void check() const { detail::require(detail::is_positive(b), "UniformBound", "b", b, "a positive number"); }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return top_down_relaxed(context, [&](const walks::Ratio& exact) {
            return walks::Ratio{b > 1 ? std::min(exact.s, exact.q) : exact.s, b * exact.q};
        });
    }

    /// Compute for each id the probability that it is accepted once drafted.
    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return (at.q > 0).select((at.p / at.q).min(1.0) / b, 1.0).min(1.0);
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

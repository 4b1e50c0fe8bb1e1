// Lenience: a drafted token is accepted as if its draft probability were smaller by a factor.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), appendix A.5.
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/relaxed.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// The residual that `Lenience` draws the last token from after a rejection.
enum class LenientResidual {
    standard,  ///< max(0, p - q): the output lies between p and q, as close to p as its acceptance allows
    scaled     ///< max(0, p - l q): what is left of p after the lenient test has taken min(p, l q)
};

/// Accept x with probability min(1, p(x) / (l q(x))).
///
/// A token is accepted with probability sum min(p / l, q), and the output distribution is at most p / l with either
/// residual. On a tree the siblings of a rejected child are judged by the same test against the residual that the
/// rejection left.
///
/// @param l          in (0, 1]; 1 is lossless
/// @param residual   the distribution of the last token after a rejection
/// @draws            as TokenVerification: one accept draw per token judged, one last-token draw
/// @cost             the cost of TokenVerification, plus one pass for each row whose sum is not known
/// @source           Leviathan et al. 2023, arXiv:2211.17192, appendix A.5
struct Lenience {
    static constexpr bool lossless = false;

    double l = 1;
    LenientResidual residual = LenientResidual::standard;

    void check() const { detail::require(l > 0 && l <= 1, "Lenience", "l", l, "in (0, 1]"); }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return top_down_relaxed(
            context,
            [&](const walks::Ratio& exact) {
                return walks::Ratio{exact.s, l * exact.q};
            },
            taken());
    }

    /// Compute for each id the probability that it is accepted once drafted.
    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return (l * at.q > at.p).select(at.p / (l * at.q), 1.0);
    }

    /// Compute the output distribution at one position.
    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, taken() * at.q));
    }

  private:
    double taken() const { return residual == LenientResidual::standard ? 1 : l; }
};

}  // namespace lossy

}}  // namespace specsample

// Lenience: every drafted token is accepted as if the draft had been less sure of it.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), appendix A.5.
#pragma once

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/relaxed.hpp>

namespace specsample {

namespace lossy {

/// What the last token is drawn from after a rejection.
enum class LenientResidual {
    standard,  ///< max(0, p - q): the distribution lies between p and q, the best there is for its acceptance
    scaled     ///< max(0, p - l q): what the lenient test has not given away
};

/// Accept x with probability min(1, p(x) / (l q(x))).
///
/// Accepts with probability sum min(p / l, q); its distribution is at most p / l with either residual. On a tree the
/// siblings of a rejected child are tried, as leniently, against what it left.
///
/// @param l   in (0, 1]; 1 is lossless
/// @draws those of token verification. Cost: its cost.
struct Lenience {
    static constexpr bool lossless = false;

    double l = 1;
    LenientResidual residual = LenientResidual::standard;

    void check() const { detail::require(l > 0 && l <= 1, "Lenience", "l", l, "in (0, 1]"); }

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        check();
        return top_down_relaxed(
            context,
            [&](const walks::Ratio& exact) {
                return walks::Ratio{exact.s, l * exact.q};
            },
            taken());
    }

    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return (l * at.q > at.p).select(at.p / (l * at.q), 1.0);
    }

    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, taken() * at.q));
    }

  private:
    double taken() const { return residual == LenientResidual::standard ? 1 : l; }
};
}  // namespace lossy

}  // namespace specsample

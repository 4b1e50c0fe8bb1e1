// Token verification with an acceptance probability other than the exact min(1, s/Q): one walk, and three rules.
//
//   Lenience         min(1, p / (l q)): a drafted token is accepted as if q were smaller
//   RatioThreshold   1 where p / q >= t, else 0; tutorials state it as "accept if p/q >= 0.8"
//   UniformBound     the random number is uniform on [0, b] instead of [0, 1]; a tutorial ("toyllm") offers it
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), appendix A.5: Lenience.
#pragma once

#include <algorithm>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// A node whose children are accepted with a probability computed from the exact s/Q. A rejection leaves max(0, s -
/// taken Q), which is the residual of the exact rule if taken = 1.
template <class T, class Chance>
class RelaxedTarget : public walks::ResidualTarget<T> {
  public:
    RelaxedTarget(const T& context, Index node, const Chance& chance, double taken)
        : walks::ResidualTarget<T>(context, node), chance_(chance), taken_(taken) {}

    walks::Ratio ratio(Index child) {
        this->weigh(child);
        return chance_(walks::ResidualTarget<T>::ratio(child));
    }

    void reject(Index child) {
        walks::ResidualTarget<T>::reject(child);
        this->context().state(child).factor *= taken_;
    }

  private:
    const Chance& chance_;
    double taken_;
};

/// Walk top-down with an acceptance probability other than the exact min(1, s/Q).
///
/// @param context   the round
/// @param chance    chance(Ratio) -> Ratio: turns the exact s/Q into the ratio that decides
/// @param taken     the factor on a rejected child's distribution when it is subtracted
/// @draws           as TokenVerification: one accept draw per child tried, one last-token draw
/// @cost            the cost of TokenVerification, plus one pass for each row of probabilities whose sum is not known
template <class T, class Chance>
Outcome top_down_relaxed(const T& context, const Chance& chance, double taken = 1) {
    return walks::top_down(context, [&](Index node) { return RelaxedTarget<T, Chance>(context, node, chance, taken); });
}

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
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return (l * at.q > at.p).select(at.p / (l * at.q), 1.0);
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, taken() * at.q));
    }

  private:
    double taken() const { return residual == LenientResidual::standard ? 1 : l; }
};

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
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return detail::indicator(at.p.size(), [&](Index id) { return at.p[id] > 0 && at.p[id] >= t * at.q[id]; });
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, at.q));
    }
};

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
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return (at.q > 0).select((at.p / at.q).min(1.0) / b, 1.0).min(1.0);
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), detail::left_over(at.p, 1, at.q));
    }
};

}  // namespace lossy

}}  // namespace specsample

// The rules that judge a drafted token by a few numbers, as a table: a chance, and where the last token comes from.
//
//   rule                accepts x                                   after a rejection
//   Lenience            with probability min(1, p / (l q))          max(0, p - q), or max(0, p - l q)
//   UniformBound        if u < min(1, p / q), u uniform on [0, b]   max(0, p - q)
//   RatioThreshold      if p / q >= t                               max(0, p - q)
//   Classified          as the exact rule, or if a classifier does  max(0, p - q)
//   BigLittle           if max q >= a and -log p <= b               p
//   TypicalAcceptance   if p > min(epsilon, delta exp(-H(p)))       p, after the longest path (paths.hpp)
//   TreeThresholds      by the share of the siblings so far         p without the children
//   RelaxedTopN         of rank < n, within delta of max p          the likeliest id
//   TopKMembership      of rank < k                                 the likeliest id
//   GreedyLenience      if p >= l max p                             the likeliest id
//   RunnerUp            of rank < 2, within a margin of log max p   the likeliest id
//
// No rule accepts a token of target probability 0. On a tree the walk follows the first accepted child.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>
#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

// ---- The last token is drawn from the residual ---------------------------------------------------------------------

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
/// @source           Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
///                   (arXiv:2211.17192), appendix A.5
struct Lenience {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::residual;

    double l = 1;
    LenientResidual residual = LenientResidual::standard;

    void check() const { detail::require(l > 0 && l <= 1, "Lenience", "l", l, "in (0, 1]"); }
    walks::Ratio chance(RatioToken& x) const {
        const walks::Ratio exact = x.exact();
        return {exact.s, l * exact.q};
    }
    double taken() const { return residual == LenientResidual::standard ? 1 : l; }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept x if r < min(1, p(x)/q(x)) for r uniform on [0, b]; a tutorial ("toyllm") offers it.
///
///     b <= 1    accepts with probability min(1, p / (b q)): lenience with l = b
///     b > 1     accepts with probability min(1, p / q) / b: less than the exact rule, and lossy all the same
///
/// @param b   > 0; 1 is lossless
/// @draws     as Lenience
/// @cost      the cost of Lenience
struct UniformBound {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::residual;

    double b = 1;

    void check() const { detail::require(detail::is_positive(b), "UniformBound", "b", b, "a positive number"); }
    walks::Ratio chance(RatioToken& x) const {
        const walks::Ratio exact = x.exact();
        return {b > 1 ? std::min(exact.s, exact.q) : exact.s, b * exact.q};
    }
    double taken() const { return 1; }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept x if p(x) / q(x) >= t; tutorials state it as "accept if p/q >= 0.8".
///
/// No t is lossless: t = 1 accepts with the probability that q has on the ids with p >= q.
///
/// @param t   > 0
/// @draws     one last-token draw; acceptance uses none
/// @cost      the cost of Lenience
struct RatioThreshold {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::residual;

    double t = 1;

    void check() const { detail::require(detail::is_positive(t), "RatioThreshold", "t", t, "a positive number"); }
    walks::Ratio chance(RatioToken& x) const {
        const walks::Ratio exact = x.exact();
        return decide(exact.s > 0 && exact.s >= t * exact.q);
    }
    double taken() const { return 1; }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

/// Accept x as the exact rule does, and where that could reject it, also if a classifier finds it good enough.
///
///     Classified([&](lossy::DraftedToken& x) { return judge_head(hidden_state(x.node())) > .5; })
///
/// @param is_good   is_good(DraftedToken&) -> bool, which must not depend on tokens that come after x
/// @draws           as Lenience; none where the classifier accepts
/// @cost            the cost of Lenience, and one call of the classifier per token whose ratio is below 1
/// @source          Bachmann et al.: "Judge decoding", ICLR 2025 (arXiv:2501.19309); AutoJudge (arXiv:2504.20039)
template <class F>
struct Classified {
    static_assert(std::predicate<const F&, DraftedToken&>,
                  "specsample::lossy::Classified: the classifier must be callable with a lossy::DraftedToken& while it "
                  "is const, and return a bool; write [](lossy::DraftedToken& x) { return x.p() > .1; }");
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::residual;

    F is_good;

    explicit Classified(F classifier) : is_good(std::move(classifier)) {}

    void check() const {}
    walks::Ratio chance(RatioToken& x) const {
        const walks::Ratio exact = x.exact();
        return exact.s > 0 && exact.s < exact.q && is_good(x) ? decide(true) : exact;
    }
    double taken() const { return 1; }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }
};

// ---- The last token is drawn from the target's row -----------------------------------------------------------------

/// Accept x if max q >= fallback and -log p(x) <= rollback, else draw from p: the small model writes while it is
/// confident, and the big one rolls back what it finds unlikely.
///
/// The output distribution is q on the accepted tokens, plus p times the q mass of all other tokens.
///
/// @param fallback   in [0, 1]: the confidence max q that a draft needs; where max q is below it, the output
///                   distribution is p
/// @param rollback   >= 0, in nats
/// @draws            one last-token draw
/// @cost             a pass over q per token judged, and one over p for the last token
/// @source           Kim et al.: "Speculative decoding with big little decoder", NeurIPS 2023 (arXiv:2302.07863)
struct BigLittle {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::target;

    double fallback = 0;
    double rollback = 5;

    void check() const {
        detail::require(fallback >= 0 && fallback <= 1, "BigLittle", "fallback", fallback, "in [0, 1]");
        detail::require_not_negative("BigLittle", "rollback", rollback);
    }
    walks::Ratio chance(DraftedToken& x) const {
        const double mass = x.p();
        return decide(x.largest_q() >= fallback && mass > 0 && -std::log(mass) <= rollback);
    }

    template <class T>
    Outcome operator()(const T& round) const {
        static_assert(
            detail::knows_drafts<T>,
            "specsample::lossy::BigLittle: a SharedNoise token does not say how sure its drafter was; draw it "
            "with Purpose::draft and give Sampled{row}");
        return judge(round, *this);
    }
};

/// Accept the first child j with u <= S_j / accumulated or p(x_j) >= single, else draw from p without the children:
/// the target-only tree sampling of SGLang and FlashInfer.
///
/// u is one uniform number per node, and S_j the target's mass on the children up to j. This rule replaces u by one
/// accept draw per child, whose probability is conditional on the rejection of all earlier children.
///
/// Children are judged as named tokens: the distributions of the draft are not read. With both thresholds at 1 the rule
/// is lossless for any draft. If no child reaches `single`, child j is accepted with probability min(1, S_j /
/// accumulated) - min(1, S_{j-1} / accumulated). A repeated sibling has mass 0.
///
/// @param single        in (0, 1]
/// @param accumulated   in (0, 1]
/// @draws               one accept draw per child tried, one last-token draw
/// @cost                O(rejected siblings) per child tried, and one pass over one row for the last token; one more
///                      pass over each row of probabilities for its sum
struct TreeThresholds {
    static constexpr bool lossless = false;
    static constexpr auto recovery = Recovery::remainder;

    double single = 1;
    double accumulated = 1;

    void check() const {
        detail::require(single > 0 && single <= 1, "TreeThresholds", "single", single, "in (0, 1]");
        detail::require(accumulated > 0 && accumulated <= 1, "TreeThresholds", "accumulated", accumulated, "in (0, 1]");
    }
    walks::Ratio chance(DraftedToken& x) const { return chance(x.before(), x.share()); }

    /// Return the probability that a child of target probability `mass` is accepted after the rejection of earlier
    /// children whose probabilities sum to `before`.
    walks::Ratio chance(double before, double mass) const {
        if (mass >= single) return decide(true);
        const double until = std::min(1.0, before / accumulated);
        return {std::min(1.0, (before + mass) / accumulated) - until, 1 - until};
    }

    template <class T>
    Outcome operator()(const T& round) const {
        return judge(round, *this);
    }

    /// Compute the output distribution at a node with these children.
    /// @param p          the target's probabilities
    /// @param children   distinct ids below the size of p
    template <RowLike P>
    Eigen::ArrayXd distribution_of(const P& p, std::span<const Token> children) const {
        check();
        Eigen::ArrayXd left = detail::to_array(p);
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(left.size());
        double before = 0, reached = 1;
        for (const Token child : children) {
            const double accepted = reached * chance(before, left[child]).probability();
            before += left[child];
            distribution[child] += accepted;
            reached -= accepted;
            left[child] = 0;
        }
        if (!(left.sum() > 0)) left = detail::to_array(p);
        return distribution + std::max(0.0, reached) / left.sum() * left;
    }
};

}}}  // namespace specsample::lossy

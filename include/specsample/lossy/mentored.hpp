// Mentored decoding: the most tokens accepted for a given distance from the target.
//
// Tran-Thien: "An optimal lossy variant of speculative decoding", 2023; arXiv:2609.30474. For every f-divergence as the
// distance, the best distribution is the median of the draft and of the target at two scales.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace lossy {

/// The median of q and of p at two scales: pi = max(low p, min(q, high p)), and pi = free q where p = 0. Where p is
/// below 1e-300 q, no finite scale lifts p to q, so p counts as 0.
struct MedianScales {
    double low = 1;   ///< in [0, 1]
    double high = 1;  ///< 1 or more
    double free = 0;  ///< in [0, 1]: the part of q that ids of target probability 0 keep

    static constexpr double largest = 1e300;  ///< the largest scale: its product with a probability is finite

    /// Return pi as an expression of two arrays of doubles.
    template <class Q, class P>
    auto of(const Q& q, const P& p) const {
        return (low * p).max(q.min(high * p + free * (p <= q / largest).template cast<double>() * q));
    }
};

}  // namespace lossy

namespace detail {

/// Find the scale low <= 1 at which pi sums to 1: it then adds as much mass as `high` takes away.
///
///     sum max(0, low p - q) = sum max(0, q - high p)
///
/// The left side is convex and piecewise linear in low, so Newton's steps down from 1 never overshoot, and are exact
/// once they reach the linear piece that contains the root.
template <class Q, class P>
double balance(const Q& q, const P& p, const lossy::MedianScales& scales) {
    const double lost = (q - q.min(scales.of(q, p))).sum();
    double low = 1;
    for (int step = 0; step < 100; ++step) {
        const double slope = ((low * p > q).template cast<double>() * p).sum();
        const double surplus = (low * p - q).max(0.0).sum() - lost;
        const double next = low - surplus / slope;
        if (!(surplus > 0) || !(next < low)) break;
        low = std::max(next, 0.0);
    }
    return low;
}

}  // namespace detail

namespace lossy {

/// The transform that maximises the acceptance sum min(q, pi) among all pi with D(p, pi) <= budget:
///
///     pi = median(c1 p, q, c2 p),   c1 <= 1 <= c2,   sum pi = 1
///
/// Bisection finds the c2 that spends the budget, and c1 follows from it. If D(p, q) <= budget, pi = q. Ids of target
/// probability 0 come last: they get a part of q only if no c2 spends the whole budget.
///
/// @param budget       >= 0, in the divergence's unit; 0 is lossless
/// @param divergence   an f-divergence: KullbackLeibler is KL(p || pi), ReverseKullbackLeibler KL(pi || p)
/// @cost               some hundred passes, unless pi is p or q
/// @source             Tran-Thien 2023; arXiv:2609.30474
template <class Divergence = KullbackLeibler>
struct Mentored {
    static_assert(Divergence::is_f_divergence,
                  "specsample::lossy::Mentored: the median is optimal for f-divergences only; give KullbackLeibler, "
                  "ReverseKullbackLeibler, JensenShannon or TotalVariation");

    double budget = 0;
    Divergence divergence{};

    void check() const { detail::require(budget >= 0, "Mentored", "budget", budget, "at least 0"); }

    /// Return the row pi.
    template <RowLike Q, RowLike P>
    auto operator()(const Q& q, const P& p) const {
        const auto target = detail::doubles(p);
        const auto draft = detail::doubles(q);
        return scales(draft, target).of(draft, target);
    }

    /// Find the scales for two arrays of doubles: c1 = low, c2 = high.
    template <class Q, class P>
    MedianScales scales(const Q& q, const P& p) const {
        if (budget == 0) return {};
        const double top = std::clamp((p > 0).select(q / p, 1.0).maxCoeff(), 1.0, MedianScales::largest);
        if (divergence(p, q) <= budget) return {.low = 0, .high = top, .free = 1};
        const MedianScales whole{.high = top};
        if (!holds(q, p, whole)) {
            return largest(q, p, 1, top, [](double high) { return MedianScales{.high = high}; });
        }
        return largest(q, p, 0, 1, [&](double free) { return MedianScales{.high = top, .free = free}; });
    }

  private:
    /// Tell whether the divergence is within the budget at these scales, after `low` is balanced.
    template <class Q, class P>
    bool holds(const Q& q, const P& p, MedianScales scales) const {
        scales.low = detail::balance(q, p, scales);
        return divergence(p, scales.of(q, p)) <= budget;
    }

    /// Find the largest x in [from, to] with at(x) within the budget, and return at(x), balanced. at(from) must be
    /// within it.
    template <class Q, class P, class At>
    MedianScales largest(const Q& q, const P& p, double from, double to, const At& at) const {
        for (int step = 0; step < 200; ++step) {
            // Ends that are far apart are bisected at their geometric mean.
            const double middle = from >= 1 && to > 2 * from ? std::sqrt(from) * std::sqrt(to) : from + (to - from) / 2;
            if (!(from < middle && middle < to)) break;
            (holds(q, p, at(middle)) ? from : to) = middle;
        }
        MedianScales scales = at(from);
        scales.low = detail::balance(q, p, scales);
        return scales;
    }
};

Mentored(double) -> Mentored<>;
template <class Divergence>
Mentored(double, Divergence) -> Mentored<Divergence>;

}  // namespace lossy

}}  // namespace specsample

// Mentored decoding: the most tokens accepted for a given distance from the target.
//
// Tran-Thien: "An optimal lossy variant of speculative decoding", 2023; arXiv:2609.30474. Whatever f-divergence the
// distance is measured in, the best distribution is the median of the draft and the target at two scales.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/divergence.hpp>

namespace specsample {

namespace lossy {

/// The median of q and p at two scales: pi = max(low p, min(q, high p)), and `free` q where p = 0.
struct MedianScales {
    double low = 1;
    double high = 1;
    double free = 0;

    template <class Q, class P>
    auto of(const Q& q, const P& p) const {
        return (low * p).max(q.min(high * p + free * (p == 0).template cast<double>() * q));
    }
};
}  // namespace lossy

namespace detail {

/// The scale `low` <= 1 that gives pi the mass 1: the residual below it is what `high` takes away.
///
///     sum max(0, low p - q) = sum max(0, q - high p)
///
/// The left side is convex in `low`, so Newton's steps down from 1 do not overshoot, and end on the very piece.
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

/// The transform that maximises sum min(q, pi) among all pi with D(p, pi) <= budget:
///
///     pi = median(c1 p, q, c2 p),   c1 <= 1 <= c2,   sum pi = 1
///
/// c2 spends the budget, by bisection, and c1 follows from it. Where D(p, q) <= budget, pi = q. Ids that the target
/// gives nothing come last: they get a part of q only where c2 has no more to gain, and D allows it.
///
/// @param budget       >= 0, in the divergence's unit; 0 is lossless
/// @param divergence   an f-divergence: KullbackLeibler is KL(p || pi), ReverseKullbackLeibler KL(pi || p)
/// @cost               some hundred passes where neither p nor q will do
template <class Divergence = KullbackLeibler>
struct Mentored {
    static_assert(Divergence::is_f_divergence,
                  "specsample::lossy::Mentored: the median is optimal for f-divergences only; give KullbackLeibler, "
                  "ReverseKullbackLeibler, JensenShannon or TotalVariation");

    double budget = 0;
    Divergence divergence{};

    void check() const { detail::require(budget >= 0, "Mentored", "budget", budget, "at least 0"); }

    template <Row Q, Row P>
    auto operator()(const Q& q, const P& p) const {
        const auto target = detail::doubles(p);
        const auto draft = detail::doubles(q);
        return scales(draft, target).of(draft, target);
    }

    /// The scales of two rows of doubles: c1 = low, c2 = high.
    template <class Q, class P>
    MedianScales scales(const Q& q, const P& p) const {
        if (budget == 0) return {};
        const double top = std::clamp((p > 0).select(q / p, 1.0).maxCoeff(), 1.0, 1e300);
        if (divergence(p, q) <= budget) return {.low = 0, .high = top, .free = 1};
        const MedianScales whole{.high = top};
        if (!holds(q, p, whole)) {
            return largest(q, p, 1, top, [](double high) { return MedianScales{.high = high}; });
        }
        return largest(q, p, 0, 1, [&](double free) { return MedianScales{.high = top, .free = free}; });
    }

  private:
    /// Is the budget kept?
    template <class Q, class P>
    bool holds(const Q& q, const P& p, MedianScales scales) const {
        scales.low = detail::balance(q, p, scales);
        return divergence(p, scales.of(q, p)) <= budget;
    }

    /// The last of at(from) .. at(to) that keeps it.
    template <class Q, class P, class At>
    MedianScales largest(const Q& q, const P& p, double from, double to, const At& at) const {
        for (int step = 0; step < 200; ++step) {
            // Scales far apart are halved by their ratio.
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

}  // namespace specsample

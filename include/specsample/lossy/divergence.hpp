// Divergences between a target row p and a draft row q, for the transforms that depend on one.
//
//   KullbackLeibler          KL(p || q)     infinite if an id has q = 0 < p
//   ReverseKullbackLeibler   KL(q || p)     infinite if an id has p = 0 < q
//   JensenShannon            (KL(p || m) + KL(q || m)) / 2, m = (p + q) / 2; at most log 2
//   TotalVariation           (1/2) sum |p - q|; also the Wasserstein distance of ids that are all 1 apart
//   Wasserstein              sum |F_p - F_q|, F the distribution functions: ids on a line, for ordered outputs
//
// The first three are in nats. Each is called as divergence(p, q) with two array expressions of doubles of one size,
// and returns a number of at least 0, or NaN if an entry is NaN.
#pragma once

#include <cmath>
#include <limits>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Compute a log(a / b): 0 if a = 0, infinite if only b = 0, NaN if an argument is NaN.
inline double information(double a, double b) {
    if (a == 0) return 0 * b;
    if (b == 0) return std::numeric_limits<double>::infinity();
    const double ratio = a / b;  // infinite for a subnormal b
    return a * (is_infinity(ratio) ? std::log(a) - std::log(b) : std::log(ratio));
}

/// Sum term(p(x), q(x)) over all ids. A sum below 0 counts as 0, because rounding may leave a divergence slightly
/// negative.
template <class P, class Q, class Term>
double sum_of(const P& p, const Q& q, const Term& term) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i) sum += term(p.coeff(i), q.coeff(i));
    return sum < 0 ? 0 : sum;
}

}  // namespace detail

namespace lossy {

/// KL(p || q) in nats: infinite if an id has q = 0 < p.
struct KullbackLeibler {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) { return detail::information(a, b); });
    }
};

/// KL(q || p) in nats: infinite if an id has p = 0 < q.
struct ReverseKullbackLeibler {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) { return detail::information(b, a); });
    }
};

/// The mean of KL(p || m) and KL(q || m) in nats, m = (p + q) / 2: symmetric, at most log 2.
struct JensenShannon {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) {
            const double m = (a + b) / 2;
            if (m == 0) return m;  // half of the smallest number is rounded to 0
            return (detail::information(a, m) + detail::information(b, m)) / 2;
        });
    }
};

/// Total variation, (1/2) sum |p - q|, at most 1: the least probability, over couplings of p and q, that their two
/// tokens differ.
struct TotalVariation {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) { return std::abs(a - b); }) / 2;
    }
};

/// Wasserstein's distance, sum |F_p - F_q|, F the distribution functions: the cost of moving p to q where ids lie on a
/// line, 1 apart.
struct Wasserstein {
    static constexpr bool is_f_divergence = false;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        double ahead = 0;  // F_p - F_q
        return detail::sum_of(p, q, [&](double a, double b) { return std::abs(ahead += a - b); });
    }
};

}  // namespace lossy

}}  // namespace specsample

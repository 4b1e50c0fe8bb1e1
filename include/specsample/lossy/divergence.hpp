// How far a draft's row is from the target's, in the ways that transforms ask.
//
//   KullbackLeibler          KL(p || q)     infinite where q leaves out what p has
//   ReverseKullbackLeibler   KL(q || p)
//   JensenShannon            (KL(p || m) + KL(q || m)) / 2, m = (p + q) / 2; at most log 2
//   TotalVariation           (1/2) sum |p - q|; also the Wasserstein distance of ids that are all 1 apart
//   Wasserstein              sum |F_p - F_q|: of ids on a line, for ordered outputs
//
// In nats. Each is called with two array expressions of doubles of one size and gives a number of at least 0, or NaN
// where there is one among the entries.
#pragma once

#include <cmath>
#include <limits>

#include <specsample/core/types.hpp>

namespace specsample {
namespace detail {

/// a log(a / b), 0 where a = 0, infinite where only b is.
inline double information(double a, double b) {
    if (a == 0) return 0 * b;
    return b == 0 ? std::numeric_limits<double>::infinity() : a * std::log(a / b);
}

/// Sum of term(p(x), q(x)), which rounding may have left below 0.
template <class P, class Q, class Term>
double sum_of(const P& p, const Q& q, const Term& term) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i) sum += term(p.coeff(i), q.coeff(i));
    return sum < 0 ? 0 : sum;
}

}  // namespace detail

namespace lossy {

/// KL(p || q) in nats: infinite where q leaves out an id that p has.
struct KullbackLeibler {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) { return detail::information(a, b); });
    }
};

/// KL(q || p) in nats: infinite where p leaves out an id that q has.
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
            return (detail::information(a, m) + detail::information(b, m)) / 2;
        });
    }
};

/// Half the sum of |p - q|: the probability that the best coupling of p and q gives two different tokens, at most 1.
struct TotalVariation {
    static constexpr bool is_f_divergence = true;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        return detail::sum_of(p, q, [](double a, double b) { return std::abs(a - b); }) / 2;
    }
};

/// The sum of |F_p - F_q|: what it costs to move p to q where ids lie on a line, 1 apart.
struct Wasserstein {
    static constexpr bool is_f_divergence = false;

    template <class P, class Q>
    double operator()(const P& p, const Q& q) const {
        double ahead = 0;  // F_p - F_q
        return detail::sum_of(p, q, [&](double a, double b) { return std::abs(ahead += a - b); });
    }
};
}  // namespace lossy

}  // namespace specsample

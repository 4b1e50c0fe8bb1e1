// Two races with the same noise: the exact distribution of the second winner, given the first.
//
// With E_i exponential, i wins at rates q if E_i / q_i is the smallest. The event that m wins at rates q and j at rates
// p is E_i >= max(q_i E_m / q_m, p_i E_j / p_j) for all i. Its probability is an integral over r = E_j / E_m alone, of
// 1 / f(r)^2 with f piecewise linear, so it is a finite sum.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace testing {

/// Compute the probability that m wins at rates q and j wins at rates p, with the same noise; q sums to 1.
inline double both_win(const Eigen::VectorXd& q, Index m, const Eigen::VectorXd& p, Index j) {
    if (!(q[m] > 0) || !(p[j] > 0)) return 0;
    if (m == j) return 1 / (q / q[m]).cwiseMax(p / p[j]).sum();
    // E_j > q_j E_m / q_m since m wins, E_m > p_m E_j / p_j since j does.
    const double from = q[j] / q[m];
    const double to = p[m] > 0 ? p[j] / p[m] : std::numeric_limits<double>::infinity();
    const auto others = [&](const auto& term) {
        double sum = 0;
        for (Index i = 0; i < q.size(); ++i)
            if (i != m && i != j) sum += term(i);
        return sum;
    };
    const auto f = [&](double r) {
        return 1 + r + others([&](Index i) { return std::max(q[i] / q[m], p[i] * r / p[j]); });
    };
    std::vector<double> corners{from};
    for (Index i = 0; i < q.size(); ++i) {
        const double corner = q[i] / q[m] * (p[j] / p[i]);
        if (p[i] > 0 && corner > from && corner < to) corners.push_back(corner);
    }
    std::ranges::sort(corners);
    // Divided twice: the product of both f overflows where rates are 1e-300 apart.
    const auto between = [&](double a, double b) { return (b - a) / f(b) / f(a); };
    double integral = 0;
    for (std::size_t k = 0; k + 1 < corners.size(); ++k) integral += between(corners[k], corners[k + 1]);
    const double last = corners.back();
    if (to == std::numeric_limits<double>::infinity())
        return integral + 1 / ((1 + others([&](Index i) { return p[i] / p[j]; })) * f(last));
    return to > last ? integral + between(last, to) : integral;
}

/// Compute the probability of each winner at rates p, given that m has won at rates q with the same noise.
inline Eigen::VectorXd winner_given(const Eigen::VectorXd& q, Index m, const Eigen::VectorXd& p) {
    Eigen::VectorXd result(p.size());
    for (Index j = 0; j < p.size(); ++j) result[j] = both_win(q, m, p, j) / q[m];
    return result;
}

}}}  // namespace specsample::testing

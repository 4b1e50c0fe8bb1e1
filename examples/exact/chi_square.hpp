// Counts of tokens against the distribution that they should have.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/core/eigen.hpp>

namespace exact {

using Eigen::Index;

/// Pearson's statistic of counts against a distribution.
struct ChiSquare {
    double statistic = 0;
    double bound = 0;  ///< exceeded with probability 2.9e-7 by counts from the distribution
    Index bins = 0;

    bool holds() const { return statistic <= bound; }
};

inline ChiSquare chi_square(const Eigen::ArrayXd& counts, const Eigen::ArrayXd& distribution) {
    ChiSquare result;
    const auto add = [&](double seen, double mean) {
        result.statistic += (seen - mean) * (seen - mean) / mean;
        ++result.bins;
    };
    const double samples = counts.sum();
    double seen = 0, mean = 0;  // tokens that are too rare for bins of their own
    for (Index i = 0; i < distribution.size(); ++i) {
        if (distribution[i] * samples >= 10) {
            add(counts[i], distribution[i] * samples);
        } else {
            seen += counts[i];
            mean += distribution[i] * samples;
        }
    }
    if (mean > 0) add(seen, mean);
    const double degrees = static_cast<double>(std::max<Index>(result.bins - 1, 1));
    const double scale = 2 / (9 * degrees);  // Wilson and Hilferty's cube, at 5 standard deviations
    result.bound = degrees * std::pow(1 - scale + 5 * std::sqrt(scale), 3);
    return result;
}

}  // namespace exact

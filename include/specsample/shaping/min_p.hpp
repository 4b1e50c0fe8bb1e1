// Min-p sampling.
//
// Nguyen et al.: "Turning up the heat: min-p sampling for creative and coherent LLM outputs", ICLR 2025
// (arXiv:2407.01082), section 3.
#pragma once

#include <cmath>
#include <limits>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the smallest number above `impossible` that is not below `x`: a possible number is >= least_from(x) exactly
/// if it is >= x.
template <std::floating_point Value>
Value least_from(double x, Value impossible) {
    const auto rounded = static_cast<Value>(x);
    const Value above = std::numeric_limits<Value>::infinity();
    const Value least = static_cast<double>(rounded) < x ? std::nextafter(rounded, above) : rounded;
    return std::max(least, std::nextafter(impossible, above));
}

}  // namespace detail

namespace filters {

/// Keep the tokens that are at least min_p times as probable as the most probable one. 0 keeps everything, 1 the most
/// probable token and its ties.
///
/// Probabilities are taken at the temperature so far. For logits the condition is z >= z_max + T ln min_p, so no
/// exponential is computed.
///
/// @cost   one pass
class MinP {
  public:
    /// @throws std::invalid_argument unless 0 <= min_p <= 1
    explicit MinP(double min_p) : min_p_(min_p) {
        detail::require(min_p >= 0 && min_p <= 1, "MinP", "min_p", min_p, "in [0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (min_p_ == 0 || row.is_greedy() || row.size() == 0) return;
        const double least = row.kind() == NumberKind::logits
                                 ? row.maximum() + row.temperature_of_weights() * std::log(min_p_)
                                 : row.maximum() * std::pow(min_p_, row.temperature_of_weights());
        auto& scratch = row.scratch();
        const Value threshold = detail::least_from(least, row.impossible());
        if (row.has_maxima()) {
            detail::select_at_least_by_maxima(row.numbers(), threshold, scratch.maxima, scratch.places);
        } else {
            kernels::select_at_least(row.numbers(), threshold, scratch.places);
        }
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (min_p_ > 0 && !outlook.is_greedy()) outlook.limit({.distance = -outlook.temperature() * std::log(min_p_)});
    }

  private:
    double min_p_;
};

}  // namespace filters

}}  // namespace specsample

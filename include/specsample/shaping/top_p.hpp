// Nucleus (top-p) sampling.
//
// Holtzman et al.: "The curious case of neural text degeneration", ICLR 2020 (arXiv:1904.09751), section 3.1.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/select_mass.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Keep the nucleus: the fewest most probable tokens whose probabilities sum to at least p, including the token that
/// reaches p, the lower ids first among equals. Probabilities are normalised over the candidates left so far, at the
/// temperature so far. 1 keeps everything.
///
/// @cost   the weights of the candidates, an exponential each, and a selection that does not sort them
class TopP {
  public:
    /// @throws std::invalid_argument unless 0 < top_p <= 1
    explicit TopP(double top_p) : top_p_(top_p) {
        detail::require(top_p > 0 && top_p <= 1, "TopP", "top_p", top_p, "in (0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (top_p_ == 1 || row.is_greedy() || row.size() == 0) return;
        auto& scratch = row.scratch();
        const bool is_as_given = row.is_as_given();
        const auto [weights, total] = row.weights();
        if (!detail::is_positive(total)) return;
        if (is_as_given) {  // the weights are the numbers, and their maxima are known
            // A row that sums to 1 within rounding is taken for one that does: .5 of it is reached by an entry of .5.
            const bool is_one = std::abs(total - 1) < 8 * double{std::numeric_limits<Value>::epsilon()};
            scratch.selection.maxima = scratch.maxima;
            detail::select_mass_by_maxima(weights, is_one ? 1 : total, top_p_, scratch.places, scratch.selection);
        } else {
            kernels::select_mass(weights, total, top_p_, scratch.places, scratch.selection);
        }
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (top_p_ != 1 && !outlook.is_greedy()) outlook.limit({.mass = top_p_, .temperature = outlook.temperature()});
    }

  private:
    double top_p_;
};

}  // namespace filters

}}  // namespace specsample

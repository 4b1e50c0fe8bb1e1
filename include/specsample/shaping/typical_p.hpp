// Locally typical sampling.
//
// Meister et al.: "Locally typical sampling", TACL 2023 (arXiv:2202.00666), section 4.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/kernels/select_typical.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Keep the fewest most typical tokens whose probabilities sum to at least p. The most typical are those whose surprise
/// -ln p(x) is closest to the entropy. Probabilities are normalised over the candidates left so far, at the temperature
/// so far. 1 keeps everything.
///
/// @cost   the weights of the candidates, a logarithm each, and a sort of the part that is kept
/// @edge   ties are broken as in select_typical; engines differ there
class TypicalP {
  public:
    /// @throws std::invalid_argument unless 0 < typical_p <= 1
    explicit TypicalP(double typical_p) : typical_p_(typical_p) {
        detail::require(typical_p > 0 && typical_p <= 1, "TypicalP", "typical_p", typical_p, "in (0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (typical_p_ == 1 || row.is_greedy()) return;
        const std::span<const Value> probs = row.probabilities();
        if (probs.empty()) return;
        auto& scratch = row.scratch();
        kernels::select_typical(probs, typical_p_, scratch.places, scratch.typical);
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (typical_p_ != 1 && !outlook.is_greedy()) outlook.limit({});
    }

  private:
    double typical_p_;
};

}  // namespace filters

}}  // namespace specsample

// Temperature: divides logits.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Divide logits by a temperature T.
///
///     p_T(x) = exp(z(x) / T) / sum_y exp(z(y) / T) = p(x)^(1/T) / sum_y p(y)^(1/T)
///
/// T = 0 is the argmax of what the pipeline leaves, the lowest id on ties: filters after it keep everything, and steps
/// after it change the undivided logits. T = 1 changes nothing. A token of probability 0 keeps it at every T.
///
/// A temperature is given once, by the pipeline or by the row (Logits): two that are not 1 are refused. The row's
/// temperature divides the logits that the pipeline leaves, and filters read probabilities at that temperature.
///
/// @cost   none for logits, because exponentials are computed only when a later step asks for probabilities. For rows
///         of probabilities that step computes a logarithm and an exponential per candidate. At T = 0 one pass, after
///         which one token is left
class Temperature {
  public:
    /// @throws std::invalid_argument unless temperature is finite and >= 0
    explicit Temperature(double temperature) : temperature_(temperature) {
        detail::require(detail::is_finite(temperature) && temperature >= 0, "Temperature", "temperature", temperature,
                        "a finite number >= 0");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        row.heat(temperature_);
    }

    double temperature() const { return temperature_; }

    /// Tell `outlook` what this step does to logits.
    void foresee(auto& outlook, std::span<const Token>) const { outlook.heat(temperature_); }

  private:
    double temperature_;
};

}  // namespace filters

}}  // namespace specsample

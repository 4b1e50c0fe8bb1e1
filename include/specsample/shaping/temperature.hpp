// Temperature.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample {

namespace filters {

/// Divide logits by T:
///
///     p_T(x) = exp(z(x) / T) / sum_y exp(z(y) / T) = p(x)^(1/T) / sum_y p(y)^(1/T)
///
/// 0 is the argmax, lowest id on ties; 1 changes nothing. A token of probability 0 keeps it at every temperature.
///
/// @cost   none where the row is one of logits: the exponentials are those of whoever asks for probabilities. At T = 0
///         a pass, after which one token is left. For probabilities a logarithm and an exponential per candidate
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

  private:
    double temperature_;
};
}  // namespace filters

}  // namespace specsample

// A temperature that follows the entropy of each row.
//
// `dynatemp` of llama.cpp. Zhang et al.: "EDT: improving large language models' generation by entropy-based dynamic
// temperature sampling" (arXiv:2403.14541), with another formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/spread.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Divide logits by a temperature between temperature - range, where the row is certain, and temperature + range, where
/// all candidates are equally probable.
///
///     T = low + (high - low) (H / ln n)^exponent;   low = max(0, temperature - range), high = temperature + range
///
/// H is the entropy of the n candidates that have a probability, before any temperature: a second temperature is
/// refused, as by Temperature. llama.cpp looks at the candidates that its other filters leave; put this step last for
/// the same temperatures.
///
/// @cost   the weights of the candidates, and a pass; a logarithm each for a row of probabilities
/// @edge   one candidate: temperature `low`; a row at temperature 0 stays there
struct DynamicTemperature {
    double temperature = 1;  ///< the middle, finite and >= 0
    double range = 0;        ///< finite and >= 0; 0 is Temperature{temperature}
    double exponent = 1;     ///< positive

    /// Check the settings.
    /// @throws std::invalid_argument for a setting out of range
    void check() const {
        const auto bounded = [](std::string_view name, double x) {
            detail::require(detail::is_finite(x) && x >= 0, "DynamicTemperature", name, x, "a finite number >= 0");
        };
        bounded("temperature", temperature), bounded("range", range);
        detail::require(detail::is_positive(exponent), "DynamicTemperature", "exponent", exponent, "a positive number");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        check();
        if (row.is_greedy() || row.size() == 0) return;
        row.heat(range == 0 ? temperature : temperature_of(row));
    }

    /// Tell `outlook` what this step does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        range == 0 ? outlook.heat(temperature) : outlook.limit({});
    }

  private:
    template <class Value>
    double temperature_of(Candidates<Value>& row) const {
        const double low = std::max(0.0, temperature - range), high = temperature + range;
        const auto [weights, total] = row.weights();
        const auto count = std::ranges::count_if(weights, [](Value weight) { return weight > 0; });
        if (count < 2) return low;
        const double share = detail::entropy_of(row) / std::log(static_cast<double>(count));
        return low + (high - low) * std::pow(std::clamp(share, 0.0, 1.0), exponent);
    }
};

}}}  // namespace specsample::filters

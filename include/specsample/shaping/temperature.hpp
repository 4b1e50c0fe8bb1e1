// Temperature, on probabilities.
#pragma once

#include <cmath>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/exponential.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/shaping/scratch.hpp>

namespace specsample {

///     p_T(x) = p(x)^(1/T) / sum_y p(y)^(1/T)
///
/// the same law as softmax(logits, T) of the logits behind p. T = 0 is the argmax, lowest id on ties; T = 1 changes
/// nothing. An entry of probability 0 keeps it at every temperature.
class Temperature {
  public:
    /// @throws std::invalid_argument unless temperature is finite and >= 0
    explicit Temperature(double temperature) : temperature_(temperature) {
        detail::require(is_finite(temperature) && temperature >= 0, "Temperature", "temperature", temperature,
                        "a finite number >= 0");
    }

    /// Shape a distribution in place.
    template <class Derived>
    void operator()(Eigen::ArrayBase<Derived>& probs, ShapingScratch&) const {
        using Scalar = typename Derived::Scalar;
        if (temperature_ == 1) return;
        if (temperature_ == 0) {
            probs = one_hot<Scalar>(probs.size(), argmax(probs.derived())).array();
            return;
        }
        // Relative to the largest entry, which stays 1: nothing overflows, however small the temperature.
        const Scalar largest = std::log(probs.maxCoeff());
        probs = probs.log() - largest;
        detail::exp_relative(probs.derived(), 1 / temperature_);
        probs *= static_cast<Scalar>(1 / RowWeights(as_row(probs.derived())).sum(0, probs.size()));
    }

  private:
    double temperature_;
};

}  // namespace specsample

// Logits to probabilities.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/exponential.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

/// The probabilities of logits at a temperature.
///
///     p(x) = exp(logit(x) / T) / sum_y exp(logit(y) / T)
///
/// @param logits       [vocab]; -inf is probability 0
/// @param temperature  >= 0; 0 is the argmax, lowest id on ties
/// @returns            a new row [vocab], float (double for double logits), summing to 1
/// @throws             std::invalid_argument for a negative or non-finite temperature
/// @edge               logits that name no distribution (all -inf, a NaN; +inf at T > 0) give a row that is none
/// either,
///                     which the sampler reports as a fault; an empty row gives an empty row
/// @cost               three passes and the row's allocation
template <Row R>
auto softmax(const R& logits, double temperature = 1) {
    detail::require(is_finite(temperature) && temperature >= 0, "softmax", "temperature", temperature,
                    "a finite number >= 0");
    using Value = detail::Compute<row_scalar_t<R>>;
    const auto view = as_row(logits);
    if (temperature == 0) return one_hot<Value>(view.size(), argmax(view));
    Eigen::Matrix<Value, Eigen::Dynamic, 1> probs = view.template cast<Value>().matrix();
    if (probs.size() == 0) return probs;
    probs.array() -= probs.maxCoeff();
    detail::exp_relative(probs.array(), 1 / temperature);
    probs *= static_cast<Value>(1 / RowWeights(as_row(probs)).sum(0, probs.size()));
    return probs;
}

}  // namespace specsample

// Softmax: logits to stored probabilities. Logits{row, temperature} gives the same without storing them.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/kernels/logit_weights.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace kernels {

/// Return the probabilities of logits at a temperature.
///
///     p(x) = exp(logit(x) / T) / sum_y exp(logit(y) / T)
///
/// @param logits       [vocab]; -inf is probability 0
/// @param temperature  >= 0; 0 is the argmax, lowest id on ties
/// @returns            a new row [vocab], float (double for double logits), summing to 1
/// @throws             std::invalid_argument for a negative or non-finite temperature
/// @edge               logits that define no distribution (all -inf, a NaN; +inf at T > 0) give a row that is no
///                     distribution either, which the sampler reports as a fault; an empty row gives an empty row
/// @cost               two passes and the row's allocation
template <RowLike R>
auto softmax(const R& logits, double temperature = 1) {
    detail::require(detail::is_finite(temperature) && temperature >= 0, "softmax", "temperature", temperature,
                    "a finite number >= 0");
    const auto probs = LogitWeights(detail::as_row(logits), temperature, detail::row_size(logits)).probs();
    const detail::Blocks blocks(probs);
    Eigen::Matrix<typename decltype(blocks)::Value, Eigen::Dynamic, 1> row(probs.size());
    detail::copy_blocks(blocks, row.data());
    return row;
}

}  // namespace kernels

}}  // namespace specsample

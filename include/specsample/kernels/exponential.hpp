// The exponential behind every softmax: of numbers that are relative to their maximum.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <specsample/core/config.hpp>

namespace specsample::detail {

/// Replace relative <= 0 by exp(relative * scale), and by 0 what is below the smallest normal number: Eigen's
/// vectorised exp never returns 0, not even for -inf, and a masked token must not become possible. The scale is kept in
/// the range of the scalar, for 0 * inf is NaN.
template <class Array>
void exp_relative(Array&& relative, double scale) {
    using Value = typename std::remove_cvref_t<Array>::Scalar;
    using Limits = std::numeric_limits<Value>;
    relative *= static_cast<Value>(std::clamp(scale, double{Limits::min()}, double{Limits::max()}));
    relative = (relative < std::log(Limits::min())).select(Value{0}, relative.exp());
}

}  // namespace specsample::detail

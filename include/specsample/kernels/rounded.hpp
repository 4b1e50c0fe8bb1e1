// Products that are rounded before they are added to anything.
#pragma once

#include <specsample/core/eigen.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return `x`, a product, rounded to its own type before anything is added to it.
///
/// A compiler may contract a * b + c into one fused multiply-add, which skips the rounding of the product. Whether it
/// does depends on -march, on -ffp-contract and on inlining. A token must not depend on any of these, so this function
/// wraps every product in a sum that decides something.
///
/// @tparam T   float, double or a packet of them
/// @cost       no instruction: it only keeps the two operations apart
template <class T>
[[nodiscard]] EIGEN_ALWAYS_INLINE T rounded(T x) {
    EIGEN_OPTIMIZATION_BARRIER(x);
    return x;
}

}}}  // namespace specsample::detail

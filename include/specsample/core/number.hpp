// Tests for NaN and infinity by their bits, since -ffast-math lets a compiler drop any other test.
//
// The tests take references and are inlined: with -ffast-math, clang assumes that an argument by value is finite.
//
//   is_finite, is_nan, is_infinity, is_zero, is_positive   the tests
//   rounded                                                a product, rounded before it is added to anything
#pragma once

#include <bit>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The bits of infinity: every bit of the exponent and no other.
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

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

/// Return whether `x` is neither infinite nor NaN.
EIGEN_ALWAYS_INLINE constexpr bool is_finite(const double& x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & detail::infinity_bits) != detail::infinity_bits;
}

/// Return whether `x` is NaN.
EIGEN_ALWAYS_INLINE constexpr bool is_nan(const double& x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & 0x7fff'ffff'ffff'ffff) > detail::infinity_bits;
}

/// Return whether `x` is positive infinity.
EIGEN_ALWAYS_INLINE constexpr bool is_infinity(const double& x) noexcept {
    return std::bit_cast<std::uint64_t>(x) == detail::infinity_bits;
}

/// Return whether `x` is zero. NaN is tested first: with -ffast-math, comparing a NaN may give anything.
EIGEN_ALWAYS_INLINE constexpr bool is_zero(const double& x) noexcept { return !is_nan(x) && x == 0; }

/// Return whether `x` is positive and finite.
EIGEN_ALWAYS_INLINE constexpr bool is_positive(const double& x) noexcept { return is_finite(x) && x > 0; }

}  // namespace detail

}}  // namespace specsample

// Numbers that are no numbers, told by their bits: -ffast-math lets a compiler drop every other test.
//
// By reference and inlined: there, clang takes an argument for neither NaN nor infinite.
#pragma once

#include <bit>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample {
namespace detail {

/// The bits of infinity: all of the exponent, and nothing else.
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

}  // namespace detail

/// Is `x` neither infinite nor NaN?
EIGEN_ALWAYS_INLINE constexpr bool is_finite(const double& x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & detail::infinity_bits) != detail::infinity_bits;
}

/// Is `x` NaN?
EIGEN_ALWAYS_INLINE constexpr bool is_nan(const double& x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & 0x7fff'ffff'ffff'ffff) > detail::infinity_bits;
}

/// Is `x` positive infinity?
EIGEN_ALWAYS_INLINE constexpr bool is_infinity(const double& x) noexcept {
    return std::bit_cast<std::uint64_t>(x) == detail::infinity_bits;
}

/// Is `x` zero? A NaN is not, whatever comes out of comparing one.
EIGEN_ALWAYS_INLINE constexpr bool is_zero(const double& x) noexcept { return !is_nan(x) && x == 0; }

/// Is `x` a positive number that can be divided by?
EIGEN_ALWAYS_INLINE constexpr bool is_positive(const double& x) noexcept { return is_finite(x) && x > 0; }

}  // namespace specsample

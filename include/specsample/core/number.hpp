// Numbers that are no numbers, told by their bits: -ffast-math lets a compiler drop every other test.
//
// These tests take references and are inlined, because clang takes a plain argument for neither NaN nor infinite there.
//
//   is_finite, is_nan, is_infinity, is_zero, is_positive   the tests
//   detail::rounded                                        a product that is rounded before it is added to anything
#pragma once

#include <bit>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample {
namespace detail {

/// The bits of infinity: all of the exponent, and nothing else.
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

/// `x`, a product, rounded to its own type before anything is added to it.
///
/// A compiler may contract a * b + c into one fused multiply-add, which skips the rounding of the product, and it does
/// so or not depending on -march, on -ffp-contract and on what is inlined where. A token must depend on none of these,
/// so every product that feeds a sum on which a decision depends goes through here.
///
/// @tparam T   float, double or a packet of them
/// @cost       no instruction of its own: it only keeps the two operations apart
template <class T>
[[nodiscard]] EIGEN_ALWAYS_INLINE T rounded(T x) {
    EIGEN_OPTIMIZATION_BARRIER(x);
    return x;
}

}  // namespace detail

namespace detail {

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
}  // namespace detail

}  // namespace specsample

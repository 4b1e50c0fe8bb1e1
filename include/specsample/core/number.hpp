// Tests for NaN and infinity by their bits, since -ffast-math lets a compiler drop any other test.
//
// The tests take references and are inlined: with -ffast-math, clang assumes that an argument by value is finite.
//
//   is_finite, is_nan, is_infinity, is_zero, is_positive   the tests
#pragma once

#include <cstdint>

#include <specsample/core/bits.hpp>
#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The bits of infinity: every bit of the exponent and no other.
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

/// Return whether `x` is neither infinite nor NaN.
[[gnu::always_inline]] constexpr bool is_finite(const double& x) noexcept {
    return (bit_cast<std::uint64_t>(x) & detail::infinity_bits) != detail::infinity_bits;
}

/// Return whether `x` is NaN.
[[gnu::always_inline]] constexpr bool is_nan(const double& x) noexcept {
    return (bit_cast<std::uint64_t>(x) & 0x7fff'ffff'ffff'ffff) > detail::infinity_bits;
}

/// Return whether `x` is positive infinity.
[[gnu::always_inline]] constexpr bool is_infinity(const double& x) noexcept {
    return bit_cast<std::uint64_t>(x) == detail::infinity_bits;
}

/// Return whether `x` is zero. NaN is tested first: with -ffast-math, comparing a NaN may give anything.
[[gnu::always_inline]] constexpr bool is_zero(const double& x) noexcept { return !is_nan(x) && x == 0; }

/// Return whether `x` is positive and finite.
[[gnu::always_inline]] constexpr bool is_positive(const double& x) noexcept { return is_finite(x) && x > 0; }

}  // namespace detail

}}  // namespace specsample

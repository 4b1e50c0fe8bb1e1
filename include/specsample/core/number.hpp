// Numbers that are no numbers, told by their bits: -ffast-math lets a compiler drop every other test.
#pragma once

#include <bit>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample {

/// Is `x` neither infinite nor NaN?
constexpr bool is_finite(double x) noexcept {
    constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000;
    return (std::bit_cast<std::uint64_t>(x) & exponent) != exponent;
}

/// Is `x` NaN?
constexpr bool is_nan(double x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & 0x7fff'ffff'ffff'ffff) > 0x7ff0'0000'0000'0000;
}

/// Is `x` zero? A NaN is not, whatever comes out of comparing one.
constexpr bool is_zero(double x) noexcept { return !is_nan(x) && x == 0; }

/// Is `x` a positive number that can be divided by?
constexpr bool is_positive(double x) noexcept { return is_finite(x) && x > 0; }

}  // namespace specsample

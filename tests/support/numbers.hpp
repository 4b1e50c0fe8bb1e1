// Infinities and NaN, written to memory and tested by their bits, because -ffast-math assumes that they cannot occur.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/types.hpp>

namespace numbers {

enum class Special { infinity, minus_infinity, nan, minus_nan };

template <class Scalar>
using Bits = std::conditional_t<sizeof(Scalar) == 2, std::uint16_t,
                                std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>>;

template <class Scalar>
constexpr Bits<Scalar> sign = static_cast<Bits<Scalar>>(Bits<Scalar>{1} << (8 * sizeof(Scalar) - 1));
template <class Scalar>
constexpr Bits<Scalar> infinity = [] {
    if (std::is_same_v<Scalar, double>) return static_cast<Bits<Scalar>>(0x7ff0'0000'0000'0000);
    if (std::is_same_v<Scalar, float>) return static_cast<Bits<Scalar>>(0x7f80'0000);
    return static_cast<Bits<Scalar>>(std::is_same_v<Scalar, Eigen::half> ? 0x7c00 : 0x7f80);
}();

template <class Scalar>
Bits<Scalar> bits_of(const Scalar& x) {
    Bits<Scalar> bits;
    std::memcpy(&bits, static_cast<const void*>(&x), sizeof bits);
    return bits;
}

template <class Scalar>
void write(Scalar& x, Special what) {
    Bits<Scalar> bits = infinity<Scalar>;
    if (what == Special::nan || what == Special::minus_nan)
        bits = static_cast<Bits<Scalar>>(bits | 1 << (sizeof(Scalar) == 2 ? 6 : 9));
    if (what == Special::minus_infinity || what == Special::minus_nan)
        bits = static_cast<Bits<Scalar>>(bits | sign<Scalar>);
    std::memcpy(static_cast<void*>(&x), &bits, sizeof bits);
}

template <class Scalar>
bool is_nan(const Scalar& x) {
    return static_cast<Bits<Scalar>>(bits_of(x) & ~sign<Scalar>) > infinity<Scalar>;
}
template <class Scalar>
bool is_finite(const Scalar& x) {
    return (bits_of(x) & infinity<Scalar>) != infinity<Scalar>;
}
template <class Scalar>
bool is_infinite(const Scalar& x) {
    return !is_finite(x) && !is_nan(x);
}

}  // namespace numbers

// The places of the values that belong, among 64 of a row.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The number of places in a word of bits.
inline constexpr int places_at_once = 64;

/// Return the places of 64 values that belong, one bit each.
/// @cost   with AVX2 some 20 instructions: the comparisons and the bytes are vectors
template <class Value, std::predicate<Value> Belongs>
std::uint64_t places_where(const Value* values, const Belongs& belongs) {
    std::array<std::uint8_t, std::size_t{places_at_once}> bits;
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = belongs(values[i]) ? std::uint8_t(1 << i % 8) : std::uint8_t{0};
    std::uint64_t places = 0;
    for (std::size_t i = 0; i < bits.size(); i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, &bits[i], sizeof eight);
        for (int shift = 32; shift >= 8; shift /= 2) eight |= eight >> shift;
        places |= (eight & 0xff) << i;
    }
    return places;
}

}}}  // namespace specsample::detail

// The bits of numbers. The header of the standard library would be 250 lines for these three functions, in every program.
#pragma once

#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Return the bits of a number as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] constexpr To bit_cast(const From& from) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

/// Return the number of bits that are set.
constexpr int bit_count(std::uint64_t bits) noexcept {
    bits -= bits >> 1 & 0x5555'5555'5555'5555;
    bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
    bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
    return static_cast<int>(bits * 0x0101'0101'0101'0101 >> 56);
}

/// Return the place of the lowest bit that is set.
/// @pre   bits != 0
constexpr int lowest_bit(std::uint64_t bits) noexcept {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    return bit_count((bits & -bits) - 1);
#endif
}

}}}  // namespace specsample::detail

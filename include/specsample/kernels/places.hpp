// The places of the values that belong, among 64 of a row.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The number of places in a word of bits.
inline constexpr int places_at_once = 64;

/// Return which of 64 bytes are not 0, one bit each. The bytes are 0 or 255.
inline std::uint64_t places_of_bytes(const std::uint8_t* bytes) {
    std::uint64_t places = 0;
#if defined(__AVX2__)
    for (int i = 0; i < places_at_once; i += 32) {
        const __m256i some = _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(bytes + i)));
        places |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(some))} << i;
    }
#elif defined(__SSE2__)
    for (int i = 0; i < places_at_once; i += 16) {
        const __m128i some = _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(bytes + i)));
        places |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(some))} << i;
    }
#else
    for (int i = 0; i < places_at_once; ++i) places |= std::uint64_t{bytes[i] & 1u} << i;
#endif
    return places;
}

/// Return the places of 64 values that belong, one bit each.
/// @cost   with AVX2 some 30 instructions: the comparisons, the bytes and the bits are vectors
template <class Value, std::predicate<Value> Belongs>
std::uint64_t places_where(const Value* values, const Belongs& belongs) {
    std::array<std::uint8_t, std::size_t{places_at_once}> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = belongs(values[i]) ? 0xff : 0;
    return places_of_bytes(bytes.data());
}

}}}  // namespace specsample::detail

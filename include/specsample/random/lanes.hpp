// Random numbers of many lanes at once: Philox in the lanes of a register.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/random/philox.hpp>
#include <specsample/random/rng.hpp>

#if defined(__GNUC__) && defined(__AVX2__)
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// One word of several counters, in the lower halves of 64-bit numbers. The upper halves are arbitrary: the intrinsics
/// multiply the lower halves alone, with an instruction that compilers do not find by themselves.
#if defined(__GNUC__) && defined(__AVX512F__)
using Wide [[gnu::vector_size(64)]] = std::uint64_t;
template <>
struct PhiloxProduct<Wide> {
    EIGEN_ALWAYS_INLINE static Wide of(Wide x, Wide y) {
        return reinterpret_cast<Wide>(_mm512_mul_epu32(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
    }
};
#elif defined(__GNUC__) && defined(__AVX2__)
using Wide [[gnu::vector_size(32)]] = std::uint64_t;
template <>
struct PhiloxProduct<Wide> {
    EIGEN_ALWAYS_INLINE static Wide of(Wide x, Wide y) {
        return reinterpret_cast<Wide>(_mm256_mul_epu32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
    }
};
#elif defined(__GNUC__) && defined(__SSE2__)
using Wide [[gnu::vector_size(16)]] = std::uint64_t;
template <>
struct PhiloxProduct<Wide> {
    EIGEN_ALWAYS_INLINE static Wide of(Wide x, Wide y) {
        return reinterpret_cast<Wide>(_mm_mul_epu32(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(y)));
    }
};
#else
using Wide = std::uint64_t;
#endif

/// The number of counters that philox_bits advances at once: two registers of them, because each step of a round waits
/// for the previous step.
inline constexpr std::size_t philox_lanes = 2 * sizeof(Wide) / sizeof(std::uint64_t);

/// Compute the first 64 random bits at philox_lanes counters that differ in their lowest words only.
/// @param bits   in: the lowest words of the counters; out: the random bits
EIGEN_ALWAYS_INLINE void philox_bits(std::uint64_t* bits, const PhiloxCounter& counter, PhiloxKey key) noexcept {
    PhiloxWords<Wide> x{Wide{}, Wide{} + counter[1], Wide{} + counter[2], Wide{} + counter[3]}, y = x;
    std::memcpy(&x[0], bits, sizeof(Wide));
    std::memcpy(&y[0], bits + philox_lanes / 2, sizeof(Wide));
    for (int round = 0; round < philox_rounds; ++round, key = next_key(key)) {
        philox_round(x, key);
        philox_round(y, key);
    }
    const Wide first = x[0] << 32 | (x[1] & 0xffff'ffff), second = y[0] << 32 | (y[1] & 0xffff'ffff);
    std::memcpy(bits, &first, sizeof(Wide));
    std::memcpy(bits + philox_lanes / 2, &second, sizeof(Wide));
}

}  // namespace detail

inline void Rng::open_uniforms(std::span<const std::uint32_t> lanes, double* uniforms) const {
    constexpr std::size_t at_once = 32, few = 2;
    static_assert(at_once % detail::philox_lanes == 0);
    const detail::PhiloxCounter counter = detail::counter_of(address_);
    const detail::PhiloxKey key = detail::key_of(address_);
    for (; lanes.size() > few; lanes = lanes.subspan(std::min(at_once, lanes.size()))) {
        const std::size_t count = std::min(at_once, lanes.size());
        std::array<std::uint64_t, at_once> bits{};
        for (std::size_t i = 0; i < count; ++i) bits[i] = first_ + lanes[i];
        for (std::size_t i = 0; i < count; i += detail::philox_lanes) detail::philox_bits(&bits[i], counter, key);
        for (std::size_t i = 0; i < count; ++i) *uniforms++ = open(bits[i]);
    }
    for (const std::uint32_t lane : lanes) *uniforms++ = open_uniform(lane);
}

}}  // namespace specsample

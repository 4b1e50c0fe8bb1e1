// Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. This constexpr implementation is
// checked at compile time against the published test vectors below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <specsample/core/config.hpp>

#if defined(__GNUC__) && defined(__AVX2__)
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A counter, or the random bits made from it: 128 bits in four words, lowest first.
template <class Word>
using PhiloxWords = std::array<Word, 4>;
using PhiloxCounter = PhiloxWords<std::uint32_t>;
/// 64 bits in two words, lowest first: one key is one stream of random bits.
using PhiloxKey = std::array<std::uint32_t, 2>;

inline constexpr int philox_rounds = 10;

constexpr std::uint64_t product(std::uint32_t x, std::uint32_t y) noexcept { return std::uint64_t{x} * y; }

/// One word of several counters, in the lower halves of 64-bit numbers. The upper halves are arbitrary: the intrinsics
/// multiply the lower halves alone, with an instruction that compilers do not find by themselves.
#if defined(__GNUC__) && defined(__AVX512F__)
using Wide [[gnu::vector_size(64)]] = std::uint64_t;
EIGEN_ALWAYS_INLINE Wide product(Wide x, Wide y) {
    return reinterpret_cast<Wide>(_mm512_mul_epu32(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
}
#elif defined(__GNUC__) && defined(__AVX2__)
using Wide [[gnu::vector_size(32)]] = std::uint64_t;
EIGEN_ALWAYS_INLINE Wide product(Wide x, Wide y) {
    return reinterpret_cast<Wide>(_mm256_mul_epu32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
}
#elif defined(__GNUC__) && defined(__SSE2__)
using Wide [[gnu::vector_size(16)]] = std::uint64_t;
EIGEN_ALWAYS_INLINE Wide product(Wide x, Wide y) {
    return reinterpret_cast<Wide>(_mm_mul_epu32(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(y)));
}
#else
using Wide = std::uint64_t;
constexpr Wide product(Wide x, Wide y) { return (x & 0xffff'ffff) * y; }
#endif

template <class Word>
EIGEN_ALWAYS_INLINE constexpr void philox_round(PhiloxWords<Word>& x, const PhiloxKey& key) noexcept {
    const auto a = product(x[0], Word{} + 0xD2511F53), b = product(x[2], Word{} + 0xCD9E8D57);
    x = {static_cast<Word>(b >> 32) ^ x[1] ^ key[0], static_cast<Word>(b), static_cast<Word>(a >> 32) ^ x[3] ^ key[1],
         static_cast<Word>(a)};
}

constexpr PhiloxKey next_key(const PhiloxKey& key) noexcept { return {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85}; }

/// Return the block of random bits at `counter` under `key`: ten rounds, about 40 multiplications.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
    for (int round = 0; round < philox_rounds; ++round, key = next_key(key)) philox_round(counter, key);
    return counter;
}

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

// Known answers of the Random123 distribution: all zero, all one, the digits of pi.
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

}  // namespace detail

}}  // namespace specsample

// Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. This constexpr implementation is
// checked at compile time against the published test vectors below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace specsample::inline SPECSAMPLE_ABI {

namespace detail {

/// 128 bits in four words, lowest first: a counter, and the random bits made from it.
using PhiloxCounter = std::array<std::uint32_t, 4>;
/// 64 bits in two words, lowest first: one key is one stream of random bits.
using PhiloxKey = std::array<std::uint32_t, 2>;

inline constexpr int philox_rounds = 10;

constexpr PhiloxCounter philox_round(const PhiloxCounter& x, const PhiloxKey& key) noexcept {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
    return {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
            static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
}

constexpr PhiloxKey next_key(const PhiloxKey& key) noexcept { return {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85}; }

/// The block of random bits at `counter` under `key`: ten rounds, about 40 multiplications.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
    for (int round = 0; round < detail::philox_rounds; ++round, key = detail::next_key(key))
        counter = detail::philox_round(counter, key);
    return counter;
}

/// Several counters: word w of counter i is [w][i].
template <std::size_t size>
using PhiloxCounters = std::array<std::array<std::uint32_t, size>, 4>;

/// Replace counters by their blocks of random bits. Each round passes over all of them before the next one, in a loop
/// of constant length, which compilers vectorise from -O2 on.
template <std::size_t size>
void philox4x32(PhiloxCounters<size>& counters, PhiloxKey key) noexcept {
    auto& [x0, x1, x2, x3] = counters;
    for (int round = 0; round < detail::philox_rounds; ++round, key = detail::next_key(key))
        for (std::size_t i = 0; i < size; ++i) {
            const PhiloxCounter next = detail::philox_round({x0[i], x1[i], x2[i], x3[i]}, key);
            x0[i] = next[0];
            x1[i] = next[1];
            x2[i] = next[2];
            x3[i] = next[3];
        }
}

// Known answers of the Random123 distribution: all zero, all one, the digits of pi.
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}  // namespace detail

}  // namespace specsample

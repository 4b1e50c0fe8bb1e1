// Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. This constexpr implementation is
// checked at compile time against the published test vectors below.
#pragma once

#include <array>
#include <cstdint>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A counter, or the random bits made from it: 128 bits in four words, lowest first.
template <class Word>
using PhiloxWords = std::array<Word, 4>;
using PhiloxCounter = PhiloxWords<std::uint32_t>;
/// 64 bits in two words, lowest first: one key is one stream of random bits.
using PhiloxKey = std::array<std::uint32_t, 2>;

inline constexpr int philox_rounds = 10;

/// The product of the lower 32 bits of two words. random/lanes.hpp has it for several counters at once.
template <class Word>
struct PhiloxProduct {
    static constexpr std::uint64_t of(Word x, Word y) noexcept { return (std::uint64_t{x} & 0xffff'ffff) * y; }
};

template <class Word>
[[gnu::always_inline]] constexpr void philox_round(PhiloxWords<Word>& x, const PhiloxKey& key) noexcept {
    const auto a = PhiloxProduct<Word>::of(x[0], Word{} + 0xD2511F53);
    const auto b = PhiloxProduct<Word>::of(x[2], Word{} + 0xCD9E8D57);
    x = {static_cast<Word>(b >> 32) ^ x[1] ^ key[0], static_cast<Word>(b), static_cast<Word>(a >> 32) ^ x[3] ^ key[1],
         static_cast<Word>(a)};
}

constexpr PhiloxKey next_key(const PhiloxKey& key) noexcept { return {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85}; }

/// Return the block of random bits at `counter` under `key`: ten rounds, about 40 multiplications.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
    for (int round = 0; round < philox_rounds; ++round, key = next_key(key)) philox_round(counter, key);
    return counter;
}

// Known answers of the Random123 distribution: all zero, all one, the digits of pi.
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

}  // namespace detail

}}  // namespace specsample

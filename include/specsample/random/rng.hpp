// The random numbers of a round: functions of an address.
//
//   Rng        the random numbers of one address
//   RoundRng   the random source of a round: (seed, request, round start)
#pragma once

#include <cstdint>
#include <span>

#include <specsample/random/address.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The random numbers of one address. They are a pure function of the address: a copy, or a second call, gives the same
/// numbers.
class Rng {
  public:
    constexpr explicit Rng(const Address& address) noexcept : address_(address) {}

    /// Return 64 random bits, for integer inverse CDFs.
    constexpr std::uint64_t bits(std::uint32_t lane = 0) const {
        const detail::PhiloxCounter block = detail::random_bits(address_, first_ + lane);
        return std::uint64_t{block[0]} << 32 | block[1];
    }
    /// Return a uniformly drawn multiple of 2^-53 in [0, 1), for tests `u * q < p`: p = q always passes, p = 0 never.
    constexpr double uniform(std::uint32_t lane = 0) const { return static_cast<double>(bits(lane) >> 11) * 0x1p-53; }
    /// Return the middle of one of 2^52 equal parts of (0, 1), drawn uniformly, for logarithms. Every middle is a
    /// double: with one bit more, half of the middles would be rounded, and the last one to 1.
    constexpr double open_uniform(std::uint32_t lane = 0) const { return open(bits(lane)); }

    /// Write uniform numbers in (0, 1) for many lanes, the same as open_uniform(lane) gives. random/lanes.hpp defines
    /// it, which random/draw.hpp includes.
    /// @param uniforms   room for lanes.size() numbers
    /// @cost             per number a fifth of open_uniform with AVX-512, half of it with narrower vectors
    void open_uniforms(std::span<const std::uint32_t> lanes, double* uniforms) const;

    /// Return the numbers of this address from a lane on: lane 0 of the result is this lane.
    constexpr Rng from(std::uint32_t lane) const {
        Rng rng = *this;
        rng.first_ += lane;
        return rng;
    }

  private:
    [[gnu::always_inline]] static constexpr double open(std::uint64_t bits) {
        return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
    }

    Address address_;
    std::uint32_t first_ = 0;
};

/// The random source of one round: a counter-based generator with the seed as its key.
///
/// The round start is part of every address: a rule may look at more tokens than it emits, and reusing their noise in
/// the next round would bias the text. Only the target's own noise belongs to the text: Purpose::race at node i is the
/// noise of the absolute position, round start + i, in every round that gets there.
class RoundRng {
  public:
    /// @param request       below 2^32; each request has numbers of its own
    /// @param round_start   the length of the text before the round
    /// @throws              std::invalid_argument for a larger request
    constexpr RoundRng(std::uint64_t seed, std::uint64_t request, Index round_start)
        : seed_(seed), request_(detail::checked_request(request)), round_start_(round_start) {}

    /// Return a separate source for part number `part` of a drafter: a member of a union, a verification inside a
    /// drafter.
    ///
    /// Its key is a random number of this round, so that it shares no number with this source, with another part or
    /// with another round, and parts of parts compose. The target's own noise is not passed on: a part that draws with
    /// Purpose::race gets other numbers.
    /// @source   Claessen, Palka: "Splittable pseudorandom number generators using cryptographic hashing", Haskell 2013
    constexpr RoundRng split(Index part) const { return {at(Purpose::split, part).bits(), request_, round_start_}; }

    /// Return the random numbers of one address.
    /// @param node   the drafted node; with Purpose::race the position, counted from the round's start
    constexpr Rng at(Purpose purpose, Index node) const {
        const bool of_the_text = purpose == Purpose::race;
        return Rng({.seed = seed_,
                    .request = request_,
                    .position = of_the_text ? round_start_ + node : round_start_,
                    .purpose = purpose,
                    .node = of_the_text ? 0 : node});
    }

  private:
    std::uint64_t seed_;
    std::uint64_t request_;
    Index round_start_;
};

}}  // namespace specsample

// Addresses of random numbers: (seed; request, position, purpose, node, lane). The same address gives the same number.
//
// Layout:  key      seed (64 bits)
//          counter  lane 32 | position 32 | purpose 4, node 28 | request 32
// A field that does not fit is an error and never wraps, since two decisions must not share an address.
#pragma once

#include <cstdint>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>
#include <specsample/random/philox.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The decision that a random number is for. Purposes never share numbers: a number used for two decisions couples them
/// and biases the text (the acceptance number reused for the residual: total variation 1/20 on a toy of three tokens).
enum class Purpose : std::uint32_t {
    race,    ///< the target's own noise (match rules): one lane per token id, and from 2^31 on one per 64 ids
    draft,   ///< drawing a drafted token
    accept,  ///< accepting or rejecting a drafted token
    last,    ///< drawing the last token of a round: recovered or bonus
    policy,  ///< anything else that a drafter decides at random
    split,   ///< the key of a separate source, for a drafter or rule inside another drafter
    filter   ///< a filter that changes some rows only: at the position in the text
};

/// The address of a random number, without its lane.
struct Address {
    std::uint64_t seed = 0;            ///< of the sampler, or of a source split off a round's source
    std::uint64_t request = 0;         ///< below 2^32
    Index position = 0;                ///< below 2^32: the round's start; with race and filter the absolute position
    Purpose purpose = Purpose::draft;  ///< the decision that the number is for
    Index node = 0;                    ///< below 2^28: the drafted node in its round
};

namespace detail {

/// Check and return the request field.
constexpr std::uint32_t checked_request(std::uint64_t request) {
    detail::require(request <= 0xffff'ffff, "Address", "request", request, "below 2^32");
    return static_cast<std::uint32_t>(request);
}

/// Return the Philox counter of `address` in `lane`.
/// @throws std::invalid_argument where a field does not fit
constexpr PhiloxCounter counter_of(const Address& address, std::uint32_t lane = 0) {
    detail::require(address.position >= 0 && address.position <= 0xffff'ffff, "Address", "position", address.position,
                    "in [0, 2^32)");
    detail::require(address.node >= 0 && address.node < (1 << 28), "Address", "node", address.node, "in [0, 2^28)");
    const auto purpose_and_node =
        (static_cast<std::uint32_t>(address.purpose) << 28) | static_cast<std::uint32_t>(address.node);
    return {lane, static_cast<std::uint32_t>(address.position), purpose_and_node, checked_request(address.request)};
}

/// Return the Philox key of `address`: its seed, in two words.
constexpr PhiloxKey key_of(const Address& address) {
    return {static_cast<std::uint32_t>(address.seed), static_cast<std::uint32_t>(address.seed >> 32)};
}

/// Return the 128 random bits of `address` in `lane`.
/// @throws std::invalid_argument where a field does not fit
constexpr PhiloxCounter random_bits(const Address& address, std::uint32_t lane = 0) {
    return philox4x32(counter_of(address, lane), key_of(address));
}

}  // namespace detail

}}  // namespace specsample

// Draft distributions without a row: PointMass and SharedNoise. tree/distribution.hpp has those with a row.
#pragma once

#include <cstdint>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The distribution of a token that was not drawn at random, or of unknown origin: all mass on the token itself.
///
/// It is exact for any origin; the token is accepted with probability p(x).
struct PointMass {
    static constexpr bool is_point() { return true; }
    static double weight(Index) { return 1; }
    static double rest() { return 1; }
};

/// The distribution of a token that was drawn with the target's own noise (Purpose::race).
///
/// The token is a function of that noise, so a rule that compares probabilities would be biased. Match rules compare
/// tokens only; a draft for them may therefore mix such tokens with point masses.
struct SharedNoise {
    SharedNoise() = default;
    SharedNoise(PointMass) {}
};

namespace detail {

/// What a distribution remembers of the token that was drawn from it.
struct DrawnMemory {
    double rest = -1;           ///< the sum of the weights; negative: not known
    std::uint64_t bits = 0;     ///< what the row stored for the token
    Token token = -1;           ///< -1: nothing is remembered
    std::uint32_t removed = 0;  ///< the digest of the removed ids
};

}  // namespace detail

}}  // namespace specsample

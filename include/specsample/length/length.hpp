// The length policy that always drafts as many tokens as the options allow. The concept, Length, is in concepts.hpp.
#pragma once

#include <specsample/concepts.hpp>
#include <specsample/core/tally.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Drafts as many tokens as the options allow, in every round.
struct FixedLength {
    /// Return the lookahead of the next round: `most`.
    /// @throws   std::invalid_argument if most is negative
    Index next(Index most) const {
        detail::require(most >= 0, "FixedLength::next", "most", most, "0 or more");
        return most;
    }
    void record(const RoundCounts&) {}
};

}}  // namespace specsample

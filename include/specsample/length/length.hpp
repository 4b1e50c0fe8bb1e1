// How many tokens the next round may draft: the length that never changes its mind. The concept, Length, is in
// concepts.hpp.
#pragma once

#include <specsample/concepts.hpp>
#include <specsample/metrics/tally.hpp>

namespace specsample {

/// As many as there may be: the lookahead of the options.
struct FixedLength {
    /// @throws std::invalid_argument if most is negative
    Index next(Index most) const {
        detail::require(most >= 0, "FixedLength::next", "most", most, "0 or more");
        return most;
    }
    void record(const RoundCounts&) {}
};

}  // namespace specsample

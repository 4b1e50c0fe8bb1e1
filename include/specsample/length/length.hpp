// How many tokens the next round may draft: what a policy is, and the one that never changes its mind.
#pragma once

#include <concepts>

#include <specsample/analysis/tally.hpp>

namespace specsample {

/// length.next(most) says how many tokens the next round may draft, in [0, most], and length.record(counts) is called
/// after every committed round.
///
/// `next` is a function of what was recorded: without a record in between, two calls agree. No clock and no coins, so
/// that a text can be written again. A round may draft fewer than it may: the draft's own stop, a stop token. What is
/// drafted next may depend on all that was committed and stays lossless, as every round is exact for every lookahead.
template <class L>
concept Length = requires(L& length, const L& known, Index most, const RoundCounts& round) {
    { known.next(most) } -> std::convertible_to<Index>;
    length.record(round);
};

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

// Two more after a draft that was all right, one less after one that was not.
#pragma once

#include <algorithm>

#include <specsample/length/length.hpp>

namespace specsample {

/// The heuristic of Hugging Face transformers: after a full acceptance K + 2, else max(1, K - 1).
///
/// It needs to know no costs, and knows none: it never stops drafting, however useless that is.
///
/// @edge   rounds that say nothing leave K alone: those that drafted nothing, met bad data or were cut by a stop. So
///         do full acceptances of fewer than K tokens; there transformers takes one off. K so never grows by more than
///         2 past what rounds may draft, and comes down soon after
/// @source transformers, AssistedCandidateGenerator, num_assistant_tokens_schedule = "heuristic"
class HeuristicLength {
  public:
    /// @param first   tokens that the first round drafts; transformers starts with 5
    /// @throws        std::invalid_argument if first is below 1
    explicit HeuristicLength(Index first = 5) : lookahead_(first) {
        detail::require(first >= 1, "HeuristicLength", "first", first, "1 or more");
    }

    /// @throws std::invalid_argument if most is negative
    Index next(Index most) const {
        detail::require(most >= 0, "HeuristicLength::next", "most", most, "0 or more");
        return std::min(lookahead_, most);
    }

    void record(const RoundCounts& round) {
        if (round.fault || round.is_cut()) return;
        if (round.accepted < round.positions()) {
            lookahead_ = std::max<Index>(1, lookahead_ - 1);
        } else if (round.positions() >= lookahead_) {
            lookahead_ += 2;
        }
    }

  private:
    Index lookahead_;
};

}  // namespace specsample

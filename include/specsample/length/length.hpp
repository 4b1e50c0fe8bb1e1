// Length policies that know no costs. The concept, Length, is in concepts.hpp.
//
//   FixedLength       as many tokens as the options allow, in every round
//   HeuristicLength   two tokens more after a full acceptance, one less otherwise, as Hugging Face transformers does
#pragma once

#include <algorithm>

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

/// Drafts K + 2 tokens after a full acceptance of K, else max(1, K - 1): the heuristic of Hugging Face transformers.
///
/// It does not know the costs, so it never stops drafting, however useless that is.
///
/// @edge     K does not change after a round that drafted nothing, met bad data or was cut by a stop, nor after a full
///           acceptance of fewer than K tokens, where transformers subtracts 1. So K exceeds the number that rounds may
///           draft by at most 2, and falls soon after
/// @source   transformers, AssistedCandidateGenerator, num_assistant_tokens_schedule = "heuristic"
class HeuristicLength {
  public:
    /// @param first   tokens that the first round drafts; transformers starts with 5
    /// @throws        std::invalid_argument if first is below 1
    explicit HeuristicLength(Index first = 5) : lookahead_(first) {
        detail::require(first >= 1, "HeuristicLength", "first", first, "1 or more");
    }

    /// Return the lookahead of the next round, at most `most`.
    /// @throws   std::invalid_argument if most is negative
    Index next(Index most) const {
        detail::require(most >= 0, "HeuristicLength::next", "most", most, "0 or more");
        return std::min(lookahead_, most);
    }

    /// Learn from a round.
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

}}  // namespace specsample

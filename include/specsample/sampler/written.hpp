// Where a predicate ends a text that is written in several rounds.
#pragma once

#include <span>
#include <vector>

#include <specsample/verify/round.hpp>

namespace specsample::detail {

/// The predicate of a text as the predicate of its rounds: it is shown all that a call has written, not only what the
/// round adds.
class Written {
  public:
    explicit Written(const StopPredicate& until) : until_(until) {}

    /// What the next round's limits take; nothing where the text has no predicate.
    StopPredicate of_round() { return until_ ? StopPredicate(*this) : StopPredicate(); }

    /// @param tokens   of the round, up to and including the one that is asked about
    StopDecision operator()(std::span<const Token> tokens) {
        tokens_.resize(committed_);
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
        return until_(tokens_);
    }

    /// The tokens of a round have become text.
    void top_down(std::span<const Token> tokens) {
        if (!until_) return;
        tokens_.resize(committed_);
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
        committed_ = tokens_.size();
    }

  private:
    StopPredicate until_;
    std::vector<Token> tokens_;
    std::size_t committed_ = 0;
};

}  // namespace specsample::detail

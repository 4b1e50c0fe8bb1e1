// Written: a stop predicate for a text that is written in several rounds.
#pragma once

#include <span>
#include <vector>

#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Turns the predicate of a text into a predicate of its rounds: the text's predicate is shown all tokens that the call
/// has written, not the round's tokens alone.
class Written {
  public:
    Written() = default;
    explicit Written(const StopPredicate& until) { begin(until); }

    /// Begin with no tokens.
    void begin(const StopPredicate& until) {
        until_ = until;
        committed_ = 0;
    }

    /// Return the predicate for the limits of the next round; empty if the text has none.
    StopPredicate of_round() { return until_ ? StopPredicate(*this) : StopPredicate(); }

    /// @param tokens   the tokens of the round, up to and including the token to decide about
    StopDecision operator()(std::span<const Token> tokens) {
        tokens_.resize(committed_);
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
        return until_(tokens_);
    }

    /// Note that the tokens of a round have become text.
    void commit(std::span<const Token> tokens) {
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

}}}  // namespace specsample::detail

// The scores of a round's tokens, as values. verify/scores.hpp and draft_scores.hpp make them.
#pragma once

#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>
#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// A token and its log-probability.
struct ScoredId {
    Token id = 0;
    double log_prob = 0;
};

/// An emitted token in its row of the target.
struct TokenScore {
    Token token = 0;                  ///< its id
    Index row = 0;                    ///< the number of its row in the round
    double log_prob = 0;              ///< ln p(token); -inf where it is impossible
    double margin = 0;                ///< the largest number stored in the row (a logit or a probability) less the
                                      ///< second largest; infinite if there is no second
    std::span<const ScoredId> top{};  ///< the most likely tokens, the likeliest first, the lowest id first on ties
};

/// A drafted token that was decided.
struct DraftScore {
    Index node = 0;         ///< its node in the drafted tree
    Token token = 0;        ///< its id
    double log_draft = 0;   ///< ln Q(token), Q the distribution it is judged by; 0 for a point mass
    double ratio = 0;       ///< the probability min(1, s / Q) of token verification; on a chain s = p(token)
    double slack = 0;       ///< |u Q - s|: a random number or rows that differ by less give the same decision
    bool accepted = false;  ///< true if the round kept it
};

/// Reusable memory. The returned scores point into it until its next use.
struct Scores {
    std::vector<TokenScore> tokens;  ///< what token_scores returns
    std::vector<ScoredId> top;       ///< the most likely tokens that they list
    std::vector<DraftScore> drafts;  ///< what draft_scores returns
    detail::RoundMemory notes;       ///< for draft_scores
};

namespace detail {

/// Return a text as a round of a chain, which has emitted all of it.
/// @param row_count   of its rows; -1 if they have no number
inline Round round_of_text(std::span<const Token> tokens, Index row_count) {
    require_memory("token_scores", "tokens", tokens);
    if (row_count >= 0 && row_count < std::ssize(tokens))
        invalid("token_scores", "the number of rows", row_count,
                "at least the number of tokens, " + to_text(std::ssize(tokens)));
    Round round;
    round.tokens = tokens;
    return round;
}

}  // namespace detail

}}  // namespace specsample

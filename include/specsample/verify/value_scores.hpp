// token_scores and draft_scores for rows and origins that are values. verify/scores.hpp and verify/draft_scores.hpp say
// what they do.
#pragma once

#include <concepts>
#include <span>

#include <specsample/verify/score.hpp>
#include <specsample/verify/values.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Score a draft of values. verify/value_walks.hpp defines it.
/// @tparam Memory   Scores: a template can be in every program that includes its definition, or in one library
template <class Memory>
std::span<const DraftScore> score_values(const Links& shape, std::span<const Token> tokens, const Origins& origins,
                                         const Rows& rows, const RoundRng& rng, const Round& round, Memory& memory);

/// Score the tokens that a round of values emitted.
template <class Memory>
std::span<const TokenScore> score_emitted(const Round& round, const Rows& rows, Memory& memory, Index top);

}  // namespace detail

// Templates, so that only programs that score compile it.

/// Score every token that a round of values emitted.
/// @param rows   as the round was given them, or as they were before shaping
/// @param top    how many of the likeliest tokens to list per row, 0 .. 64
/// @throws       std::invalid_argument if `top` is not in [0, 64]
template <std::same_as<Scores> Memory>
std::span<const TokenScore> token_scores(const Round& round, const Rows& rows, Memory& memory, Index top = 0) {
    return detail::score_emitted(round, rows, memory, top);
}

/// Score the tokens of a text, such as a prompt: row i is the target's distribution of tokens[i].
/// @throws   std::invalid_argument also for fewer rows than tokens, where their number is known
template <std::same_as<Scores> Memory>
std::span<const TokenScore> token_scores(std::span<const Token> tokens, const Rows& rows, Memory& memory,
                                         Index top = 0) {
    return detail::score_emitted(detail::round_of_text(tokens, rows.count()), rows, memory, top);
}

/// Score every drafted token that a round of values decided and did not cut.
/// @param round    without a fault; of a ratio rule. The other arguments are the ones that the round was given
/// @param memory   holds the result
/// @throws         std::invalid_argument for an origin that has no ratio
template <std::same_as<Scores> Memory>
std::span<const DraftScore> draft_scores(const Round& round, std::span<const Token> tokens,
                                         const detail::Origins& origins, const Rows& rows, const RoundRng& rng,
                                         Memory& memory) {
    const detail::Links& links = memory.notes.chain(std::ssize(tokens));
    return detail::score_values(links, tokens, origins, rows, rng, round, memory);
}

/// Score the drafted tokens of a tree in the same way.
template <class Parent, std::same_as<Scores> Memory>
std::span<const DraftScore> draft_scores(const Round& round, const Tree<Token, Parent>& tree,
                                         const detail::Origins& origins, const Rows& rows, const RoundRng& rng,
                                         Memory& memory) {
    const detail::Links& links = memory.notes.tree(tree.parents);
    return detail::score_values(links, tree.tokens, origins, rows, rng, round, memory);
}

}}  // namespace specsample

// The scores of the tokens that a round emits, made on request: log-probabilities in the target's rows, as judged or as
// before shaping. (draft_scores.hpp scores the drafted tokens.)
//
// A round costs nothing more if no scores are asked for. The function reads rows of the round again, and only rows that
// the round has read.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <specsample/kernels/top.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/verify/lists.hpp>
#include <specsample/verify/round_context.hpp>
#include <specsample/verify/score.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Score one token in its row, and list the `top.size()` likeliest tokens.
template <class View>
TokenScore score_token(const View& view, Token token, Index row, std::span<ScoredId> top) {
    constexpr std::size_t most = 64;  // that the stack has room for
    require(top.size() <= most, "token_scores", "top", top.size(), "at most 64");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Blocks stored(view);
    const auto& numbers = stored.numbers();
    std::array<Index, most> places;
    const auto count = static_cast<std::size_t>(
        largest_places(numbers, std::span(places).first(std::max<std::size_t>(2, top.size()))));
    const std::size_t listed = std::min(count, top.size());
    for (std::size_t i = 0; i < listed; ++i)
        top[i] = {static_cast<Token>(stored.id(places[i])), stored.log_weight(places[i])};
    fetch(view, token);
    const Index place = stored.place_of(token);
    return {.token = token,
            .row = row,
            .log_prob = place < 0 ? -infinity : stored.log_weight(place),
            .margin = count < 2 ? infinity : numbers[places[0]] - numbers[places[1]],
            .top = top.first(listed)};
}

/// Score every emitted token of a round.
/// @param score   score(token, row, top) returns the score of a token in the row of a number
template <class Score>
std::span<const TokenScore> score_tokens(const Round& round, Scores& memory, Index top, const Score& score) {
    require(top >= 0 && top <= 64, "token_scores", "top", top, "0 to 64");
    const auto listed = static_cast<std::size_t>(top);
    memory.tokens.clear();
    memory.top.resize(round.tokens.size() * listed);
    for (std::size_t i = 0; i < round.tokens.size(); ++i) {
        const Index row = i == 0 || round.path.empty() ? static_cast<Index>(i) : round.path[i - 1] + 1;
        memory.tokens.push_back(score(round.tokens[i], row, std::span(memory.top).subspan(i * listed, listed)));
    }
    return memory.tokens;
}

}  // namespace detail

/// Score every emitted token of a round.
///
/// @param round    without a fault
/// @param rows     [K + 1] target rows as the round was given them, or, for raw log-probabilities, as they were before
///                 shaping. Only the rows of emitted tokens are asked for
/// @param memory   holds the result
/// @param top      how many of the likeliest tokens to list per row, 0 .. 64
/// @returns        one score per token of round.tokens
/// @throws         std::invalid_argument if `top` is not in [0, 64]
/// @cost           per token one pass over its row, two if its normaliser is not known; no allocation when warm
/// @edge           at temperature 0, ln p is 0 or -inf, and the margin is the difference of the two largest logits: if
///                 it is small, another batch shape or machine may decide differently without a bug
template <detail::RowSource Rows>
std::span<const TokenScore> token_scores(const Round& round, Rows&& rows, Scores& memory, Index top = 0) {
    return detail::score_tokens(round, memory, top, [&](Token token, Index row, std::span<ScoredId> listed) {
        const detail::RowRef<detail::Element<Rows>> held(detail::element(rows, row));
        return detail::score_token(held.view(), token, row, listed);
    });
}

/// Score the tokens of a text in rows that are there already, such as the rows of a prompt, in the same memory and at
/// the same cost.
/// @param tokens   [n] a text without its first token, if the target has no row before that
/// @param rows     at least [n]: row i is the target's distribution of tokens[i]
/// @throws         std::invalid_argument also for fewer rows than tokens, where their number is known
template <detail::RowSource Rows>
std::span<const TokenScore> token_scores(std::span<const Token> tokens, Rows&& rows, Scores& memory, Index top = 0) {
    return token_scores(detail::round_of_text(tokens, detail::element_count(rows)), rows, memory, top);
}

}}  // namespace specsample

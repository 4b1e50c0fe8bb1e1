// Scores of a round's tokens, made on request: log-probabilities, importance weights, near ties.
//
//   token_scores   every emitted token: its log-probability in the target's rows, as judged or as before shaping
//   draft_scores   every drafted token that was decided: its log-probability in its distribution, its acceptance ratio,
//                  and how near the decision was
//
// A round costs nothing more if no scores are asked for. Both functions read rows of the round again, and only rows
// that the round has read.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <specsample/kernels/top.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/verify/residual_target.hpp>
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
    detail::require(top >= 0 && top <= 64, "token_scores", "top", top, "0 to 64");
    const auto listed = static_cast<std::size_t>(top);
    memory.tokens.clear();
    memory.top.resize(round.tokens.size() * listed);
    for (std::size_t i = 0; i < round.tokens.size(); ++i) {
        const Index row = i == 0 ? 0 : round.path[i - 1] + 1;
        const detail::RowRef<detail::Element<Rows>> held(detail::element(rows, row));
        memory.tokens.push_back(
            detail::score_token(held.view(), round.tokens[i], row, std::span(memory.top).subspan(i * listed, listed)));
    }
    return memory.tokens;
}

namespace detail {

/// Score the children of the nodes that a round went through, as a top-down walk meets them.
template <class T>
std::span<const DraftScore> score_drafts(const T& context, const Round& round, std::vector<DraftScore>& scores) {
    scores.clear();
    const bool rejected_last = round.last == LastToken::recovered;
    const std::size_t steps = round.path.size() + (rejected_last ? 1 : 0);
    for (std::size_t i = 0; i < steps; ++i) {
        walks::ResidualTarget<T> node(context, i == 0 ? root_node : round.path[i - 1]);
        const Index kept = i < round.path.size() ? round.path[i] : no_node;
        for (Index child = context.shape.first_child(node.node()); child != no_node;
             child = context.shape.next_sibling(child)) {
            node.weigh(child);
            const walks::Ratio chance = node.ratio(child);
            const auto distribution = distribution_at(context.distributions, child);
            const Token token = context.token(child);
            const auto [weight, rest] = chance_of(distribution, token);
            const double q = weight / rest, s = chance.s > 0 ? chance.s / chance.q * q : 0;
            const double u = context.rng.at(Purpose::accept, child).uniform();
            scores.push_back({.node = child,
                              .token = token,
                              .log_draft = std::log(q),
                              .ratio = chance.probability(),
                              .slack = std::abs(u * q - s),
                              .accepted = child == kept});
            if (child == kept) break;
            node.reject(child);
        }
    }
    return scores;
}

template <class Distributions, class Rows>
std::span<const DraftScore> score_drafts(const Links& shape, std::span<const Token> tokens,
                                         Distributions& distributions, Rows& rows, const RoundRng& rng,
                                         const Round& round, Scores& memory) {
    TargetRows<Rows> target(rows);
    const Index vocab = target.vocab();
    RoundMemory& notes = memory.notes;
    notes.nodes.assign(tokens.size() + 1, {});
    const RoundLimits limits;
    const RoundContext<Distributions, Rows, RoundRng> context{
        {shape, tokens, distributions, notes}, target, rng, limits, vocab};
    return score_drafts(context, round, memory.drafts);
}

}  // namespace detail

/// Score every drafted token that a round decided and did not cut, by the numbers with which token verification
/// decides. Other ratio walks decide by more numbers. For a token that they accepted, log_draft is right as well, and
/// so is the ratio where p / Q is below 1.
///
/// @param round           without a fault; of a ratio rule
/// @param tokens          the drafted tokens. They and the next three arguments are the ones that the round was given
/// @param distributions   what the tokens were drawn from
/// @param rows            the target's rows
/// @param rng             the random numbers of the round
/// @param memory          holds the result
/// @returns               one score per token, in the order of the walk: for each accepted token the siblings rejected
///                        before it and then the token; and all children of the last node if the round ended there with
///                        a recovered token
/// @cost                  the cost of the walk without its last draw, and for each row whose sum is not known one pass,
///                        two for a draft row; no allocation when warm
template <class Distributions, class Rows>
    requires detail::DraftDistributions<Distributions> && detail::RowSource<Rows>
std::span<const DraftScore> draft_scores(const Round& round, std::span<const Token> tokens,
                                         Distributions&& distributions, Rows&& rows, const RoundRng& rng,
                                         Scores& memory) {
    const detail::Links& links = memory.notes.chain(std::ssize(tokens));
    return detail::score_drafts(links, tokens, distributions, rows, rng, round, memory);
}

/// Score the drafted tokens of a tree in the same way.
template <class Parent, class Distributions, class Rows>
    requires detail::Integer<Parent> && detail::DraftDistributions<Distributions> && detail::RowSource<Rows>
std::span<const DraftScore> draft_scores(const Round& round, const Tree<Token, Parent>& tree,
                                         Distributions&& distributions, Rows&& rows, const RoundRng& rng,
                                         Scores& memory) {
    const detail::Links& links = memory.notes.tree(tree.parents);
    return detail::score_drafts(links, std::span<const Token>(tree.tokens), distributions, rows, rng, round, memory);
}

}}  // namespace specsample

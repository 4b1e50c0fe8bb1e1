// The scores of the drafted tokens that a round decided, made on request: the log-probability of each in its
// distribution, its acceptance ratio, and how near the decision was.
//
// A round costs nothing more if no scores are asked for. The function reads rows of the round again, and only rows that
// the round has read.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/verify/residual_target.hpp>
#include <specsample/verify/score.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

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
            const double rest = distribution.rest();
            const double q = rest < least_rest ? 1 : distribution.weight(token) / rest;
            const double s = chance.s > 0 ? chance.s / chance.q * q : 0;
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

// Draws a drafted token and returns it with its draft distribution: the step of an engine's own drafting loop.
//
//     std::vector<Token> tokens;
//     std::vector<DraftedFrom<DraftRow, decltype(rule)>> distributions;  // DraftRow: the type that logits(i) returns
//     for (Index i = 0; i < lookahead; ++i) {
//         const auto [token, distribution] = draft_token(rule, rng, i, logits(i));
//         tokens.push_back(token);
//         distributions.push_back(distribution);
//     }
//     const Round round = verify(tokens, distributions, target_rows, rule, rng, limits, workspace);
//
// The rule decides how its drafts are drawn. Under a rule that shares the target's noise, the token wins a race with
// that noise; a token drawn without it would be accepted half as often, but the text would be exact all the same. Under
// any other rule the token is drawn from the row, and the distribution keeps two things: the normaliser of logits,
// which Sampled(row) would compute a second time, and what the row stored for the token, so that verify detects a row
// that has changed.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/rule_claim.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The type of the distribution that draft_token returns for a rule and a row of type R. An engine keeps a list of
/// these while it drafts.
///
///     std::vector<DraftedFrom<decltype(q[0]), decltype(rule)>> distributions;
template <RowLike R, class Rule>
using DraftedFrom =
    std::conditional_t<detail::shares_noise<std::remove_cvref_t<Rule>>, SharedNoise, Sampled<detail::row_view_t<R>>>;

namespace detail {

/// A drafted token and its draft distribution.
template <class R, class Rule>
struct DraftedToken {
    Token token = -1;
    DraftedFrom<R, Rule> distribution;
};

/// Checks the arguments in their order: each mistake gives one sentence.
template <class Rule, class Source>
struct DraftArguments : DraftRule<Rule> {
    static_assert(
        !RuleClaim<Rule> || RandomSource<Source>,
        "specsample::draft_token: the second argument must be the random source of the round, as verify takes "
        "it; write specsample::RoundRng(seed, request, round_start)");
};

/// What a draw found in a row.
template <class View>
struct RowDraw {
    Token token;  ///< -1 if nothing can be drawn
    View probs;   ///< the row as probabilities, with its normaliser
    double rest;  ///< the sum of the probabilities, as Sampled::know_rest takes it
};

/// Draw a token from a row.
template <class Rng, RowLike R>
RowDraw<row_view_t<R>> drawn_from(const R& row, const Rng& rng) {
    const auto weights = kernels::row_weights(row);
    const kernels::Drawn drawn = draw(rng, weights);
    const auto probs = kernels::probs_of(row, weights);
    return {static_cast<Token>(drawn.index), probs, rest_of(probs, drawn.sum)};
}

/// Return a row whose normaliser, which a draw found, counts as given, so that Check::every_row compares it with the
/// numbers. A row split over ranks is returned unchanged: its sums are kept apart from its numbers.
template <class View>
View with_kept_normaliser(const View& row) {
    if constexpr (is_entries_row<View> && !SharedWeights<kernels::RowWeights<View>>) {
        if (!row.functor().encoding().is_logit()) return row;
        auto entries = row.functor();
        entries.mean(entries.encoding().as_given());
        return entries.row();
    } else {
        return row;
    }
}

/// Return the first id to arrive in a race that is not in `without`; -1 if there is none.
template <class Rng, class R>
Token first_to_arrive(const Rng& rng, const R& row, std::span<const Token> without) {
    std::array<Token, 32> few;
    std::vector<Token> many(without.size() < few.size() ? 0 : without.size() + 1);
    const std::span<Token> winners = many.empty() ? std::span(few).first(without.size() + 1) : std::span(many);
    const Index found = race(rng, row, winners);
    for (const Token id : winners.first(static_cast<std::size_t>(std::max<Index>(found, 0))))
        if (!is_among(without, id)) return id;
    return -1;
}

}  // namespace detail

/// Draw the token of a drafted chain for a rule, and return it with its distribution.
///
/// @tparam Rule  the rule that will judge the draft
/// @param rng    the random source of the round, as verify takes it
/// @param node   the place of the token in the draft: 0 for the first
/// @param row    probabilities, Logits, or a sparse row of either; borrowed until the round ends, so a temporary that
///               owns its numbers does not compile
/// @returns      the token, and a distribution that verify takes. If nothing can be drawn (the sum is not positive or
///               not finite), the token is -1, which verify answers with a fault
/// @draws        one: the draft draw of the node, or under a rule that shares the target's noise the race at its
///               position
/// @cost         one pass; no allocation
/// @edge         a row, or a list of tokens, that changes before verify reads it is a fault, so every drafted row needs
///               a buffer of its own. At temperature 0 only the token is remembered, and any buffer will do. A match
///               rule reads no draft rows, so under such a rule only Check::every_row finds the change
template <class Rule, class Source, RowLike R>
[[nodiscard]] detail::DraftedToken<R, Rule> draft_token(const Rule&, const Source& rng, Index node, const R& row) {
    static_assert(sizeof(detail::DraftArguments<Rule, Source>) > 0);
    if constexpr (detail::shares_noise<Rule>) {
        return {static_cast<Token>(race(rng.at(Purpose::race, node), row)), {}};
    } else {
        const auto drawn = detail::drawn_from(row, rng.at(Purpose::draft, node));
        Sampled distribution(detail::with_kept_normaliser(drawn.probs));
        distribution.know_rest(drawn.rest);
        distribution.remember(drawn.token);
        return {drawn.token, distribution};
    }
}

/// Draw the token of a node of a drafted tree for a rule, and return it with its distribution. Everything that is not
/// listed here is as for a chain.
///
/// @param node      the node's number
/// @param depth     the number of drafted tokens on the path before the node: 0 for a child of the prefix
/// @param without   the tokens of its older siblings, which are not drawn again; borrowed until the round ends. Empty
///                  for siblings that are independent of each other
/// @draws           one: the draft draw of the node, or under a rule that shares the target's noise the race at the
///                  depth
/// @cost            one pass, two over logits; allocates for more than 31 siblings under a rule that shares noise
/// @edge            no token is left: the token is -1. Its distribution has a rest of 0, so that any other token in its
///                  place is judged as a point mass
template <class Rule, class Source, RowLike R>
[[nodiscard]] detail::DraftedToken<R, Rule> draft_token(const Rule& rule, const Source& rng, Index node, const R& row,
                                                        Index depth, ListRef<Token> without) {
    static_assert(sizeof(detail::DraftArguments<Rule, Source>) > 0);
    if constexpr (detail::shares_noise<Rule>) {
        return {detail::first_to_arrive(rng.at(Purpose::race, depth), row, without), {}};
    } else {
        if (without.empty()) return draft_token(rule, rng, node, row);
        const auto view = detail::as_row(row);
        const kernels::Drawn drawn = draw(rng.at(Purpose::draft, node), kernels::WithoutWeights(view, without));
        if (drawn.index < 0) return {-1, detail::is_zero(drawn.sum) ? Sampled(view, without, 0.) : Sampled(view)};
        Sampled distribution(detail::with_kept_normaliser(view), without, drawn.sum);
        distribution.remember(static_cast<Token>(drawn.index));
        return {static_cast<Token>(drawn.index), distribution};
    }
}

template <class Rule, class Source, RowLike R, class... More>
    requires detail::owns<R>
detail::DraftedToken<R, Rule> draft_token(const Rule&, const Source&, Index, const R&& row, More&&...) = delete;

}}  // namespace specsample

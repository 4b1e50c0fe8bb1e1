// verify: one round's drafts before a rule, on the caller's own memory. Everything else calls this.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <specsample/verify/token.hpp>

namespace specsample {
namespace detail {

/// The first token outside [0, vocab), as a fault.
template <class Ids>
std::optional<RowFault> check_ids(const Ids& ids, Party party, Index vocab) {
    Index place = 0;
    for (const auto id : ids) {
        if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, vocab))
            return RowFault{.party = party,
                            .cause = Cause::outside_vocabulary,
                            .row = place,
                            .value = static_cast<double>(id),
                            .bound = static_cast<double>(vocab)};
        ++place;
    }
    return std::nullopt;
}

/// A source that knows its size must have `expected` elements, or up to `spare` more.
template <class Source>
std::optional<RowFault> check_count(const Source& source, Party party, Index expected, Index spare = 0) {
    const auto count = element_count(source);
    if (!count || (*count >= expected && *count <= expected + spare)) return std::nullopt;
    return RowFault{.party = party,
                    .cause = Cause::wrong_count,
                    .value = static_cast<double>(*count),
                    .bound = static_cast<double>(expected)};
}

/// Under Check::every_row: the supplied rows and laws that the walk had no reason to enter.
template <class Laws, class Rows, class Source>
std::optional<RowFault> check_unread(const Trial<Laws, Rows, Source>& trial, const Outcome& outcome, Index row_count) {
    if (trial.limits.check != Check::every_row) return std::nullopt;
    const Index size = static_cast<Index>(trial.tokens.size());
    for (Index node = outcome.evaluated; node < size; ++node) {
        const auto bad = check_law(law_at(trial.laws, node), trial.tokens[static_cast<std::size_t>(node)], node,
                                   trial.vocab, Check::every_row);
        if (bad) return bad;
    }
    if constexpr (is_supplied<Rows>) {
        for (Index row = outcome.accepted + 1; row < row_count; ++row) {
            const HeldRow<Element<Rows>> held(element(trial.rows, row));
            if (const auto bad = check_row(held.view(), Party::target, row, trial.vocab, Check::every_row)) return bad;
        }
    }
    return std::nullopt;
}

}  // namespace detail

/// Judge a draft: which of its tokens to keep, and what to write after them.
///
/// @param tokens      [K] drafted token ids, of any integral type
/// @param laws        [K] the laws they were drawn from: Sampled{row} each, or PointMass{} for all
/// @param rows        [K + 1] target probabilities; row i follows drafted token i - 1. A row-major matrix, anything
///                    indexed [i], or a callable of i that computes rows when they are needed. The row after a
///                    drafted stop token is never asked for, so K rows are enough where the last token is one. A
///                    callable may be asked for row 0 twice
/// @param rule        the rule: TokenVerification{} and its like
/// @param coins       Coins{seed, request, round start}, or any source with at(purpose, node)
/// @param limits      stop tokens, a token budget, how much to check
/// @param workspace   memory for the tokens of the result
/// @returns           the round; on bad data a round with a fault and no tokens. Throws nothing on data
/// @throws            std::invalid_argument if limits.max_tokens < 1
/// @cost              what the rule costs; under Check::every_row also one pass over every supplied row. Never
///                    copies a row, allocates nothing once the workspace has held as many tokens
/// @edge              no drafted tokens: one token from row 0 with the last coin. A drafted stop token that is
///                    accepted ends the round, and so does the budget; both leave it without a last token
template <class Ids, class Laws, class Rows, class Rule, CoinSource Source>
    requires Integer<typename decltype(std::span(std::declval<const Ids&>()))::value_type> && LawSource<Laws> &&
             RowSource<Rows>
Round verify(const Ids& tokens, Laws&& laws, Rows&& rows, const Rule& rule, const Source& coins,
             const RoundLimits& limits, Workspace& workspace) {
    detail::require(limits.max_tokens >= 1, "verify", "limits.max_tokens", limits.max_tokens, "at least 1");
    const auto given = std::span(tokens);
    Round round{.proposed = static_cast<Index>(given.size())};
    const auto with = [&](const RowFault& fault) {
        round.fault = fault;
        return round;
    };

    // Nothing follows a stop token, so the row after one at the end may be left out.
    const Index spare = !given.empty() && limits.stops(given.back()) ? 1 : 0;
    const Index needed_rows = round.proposed + 1 - spare;
    if (const auto bad = detail::check_count(rows, Party::target, needed_rows, spare)) return with(*bad);
    if constexpr (!Law<std::remove_cvref_t<Laws>>) {
        if (const auto bad = detail::check_count(laws, Party::draft, round.proposed)) return with(*bad);
    }
    const Index vocab = detail::HeldRow<detail::Element<Rows>>(detail::element(rows, 0)).view().size();
    if (vocab == 0) return with({.party = Party::target, .cause = Cause::empty});
    if (const auto bad = detail::check_ids(given, Party::draft, vocab)) return with(*bad);
    if (const auto bad = detail::check_ids(limits.stop_tokens, Party::limits, vocab)) return with(*bad);

    // The drafted tokens are the round's tokens already, but for the last one.
    std::vector<Token>& kept = workspace.tokens;
    kept.reserve(given.size() + 1);
    kept.assign(given.begin(), given.end());
    const Trial<std::remove_reference_t<Laws>, std::remove_reference_t<Rows>, Source> trial{
        {kept.data(), given.size()}, laws, rows, coins, limits, vocab};
    Outcome outcome = rule(Chain{round.proposed}, trial);
    if (!outcome.fault) outcome.fault = detail::check_unread(trial, outcome, detail::element_count(rows).value_or(0));
    if (outcome.fault) return with(*outcome.fault);

    kept.resize(static_cast<std::size_t>(outcome.accepted));
    if (outcome.last != Last::stopped) kept.push_back(outcome.token);
    round.tokens = kept;
    round.evaluated = outcome.evaluated;
    round.accepted = outcome.accepted;
    round.last = outcome.last;
    return round;
}

}  // namespace specsample

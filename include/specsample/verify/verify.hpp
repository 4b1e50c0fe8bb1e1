// verify: judges the draft of one round by a rule, on the caller's own memory. All verification goes through it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <specsample/tree/links.hpp>
#include <specsample/verify/arguments.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Return the message for limits that leave no room for a token; empty for good limits.
inline std::string refusal_of_limits(const RoundLimits& limits) {
    if (limits.max_tokens >= 1) return {};
    return refusal("verify", "limits.max_tokens", limits.max_tokens, "at least 1");
}
/// Return the message for a token that was drawn without the noise that the rule shares with the drafter; empty for a
/// good draft. A Mixed distribution knows this only at run time.
template <class Rule, class Distributions>
std::string refusal_of_drawn(Distributions& distributions, Index size) {
    using L = DistributionIn<Distributions>;
    if constexpr (shares_noise<Rule> && RowDistribution<L>) {
        if constexpr (!DraftDistribution<std::remove_cvref_t<Distributions>>)
            if (element_count(distributions, size) != size) return {};  // verify finds this fault later
        for (Index node = 0; node < size; ++node)
            if (!distribution_at(distributions, node).is_point())
                return refusal("verify", "the distribution of node " + to_text(node), "Sampled",
                               "SharedNoise{} or PointMass{} under a rule that shares the target's noise: write "
                               "draft_token(rule, rng, node, row)");
    }
    return {};
}
/// Return the first id outside [0, vocab), as a fault.
template <class Ids>
std::optional<RowFault> check_ids(const Ids& ids, Side side, Index vocab) {
    Index place = 0;
    for (const auto id : ids) {
        if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, vocab))
            return RowFault{side, Cause::outside_vocabulary, place, static_cast<double>(id),
                            static_cast<double>(vocab)};
        ++place;
    }
    return std::nullopt;
}

/// Check all supplied target rows and all draft rows under Check::every_row, except rows past the end of the text,
/// which need not exist. Sums that are found here are kept for the walk.
template <class T>
std::optional<RowFault> check_all(const T& context) {
    if (context.limits.check != Check::every_row) return std::nullopt;
    const Index size = context.shape.size();
    const Index supplied = context.rows.supplied(size + 1);
    const auto exists = [&](Index node) {
        while (node != root_node && !context.ends(node)) node = context.shape.parent(node);
        return node == root_node;
    };
    for (Index row = 0; row <= size; ++row) {
        if (row > 0 && exists(context.shape.parent(row - 1))) {
            const auto distribution = distribution_at(context.distributions, row - 1);
            const auto bad = check_distribution(distribution, context.token(row - 1), row - 1, context.vocab,
                                                Check::every_row, &context.state(row - 1).rest);
            if (bad) return bad;
        }
        if (row < supplied && exists(row - 1)) {
            const auto held = context.rows.row(row);
            if constexpr (form_of<std::remove_cvref_t<decltype(held.row())>>.split)
                if (held.row().is_sound()) continue;
            RoundMemory::Node& node = context.state(row - 1);
            const auto bad =
                check_row(read_once(held, node), Side::target, row, context.vocab, Check::every_row, &node.sum);
            // At the end of a budget a grammar may be over: a walk that needs the row finds the fault by itself.
            if (bad && (context.shape.depth(row - 1) < context.limits.max_tokens || !makes_nothing_possible(*bad)))
                return bad;
        }
    }
    return std::nullopt;
}

/// Cut a round where its limits end the text.
inline void cut(const DraftedText& draft, const RoundLimits& limits, Endings& endings, Round& round) {
    round.truncate(limits.max_tokens);
    const auto ends = [&](Index count, RoundEnd end) {
        round.truncate(count);
        round.end = end;
    };
    for (Index count = 1; count <= std::ssize(round.tokens); ++count) {
        const auto written = round.tokens.first(static_cast<std::size_t>(count));
        const Index node = count <= round.accepted ? round.path[written.size() - 1] : no_node;
        const StopDecision stop = node == no_node ? limits.until(written) : endings.decision(draft, node);
        if (stop == StopDecision::exclude) return ends(count - 1, RoundEnd::excluded);
        if (stop == StopDecision::include) return ends(count, RoundEnd::included);
        if (limits.stops(written.back())) return ends(count, RoundEnd::stop_token);
    }
    if (std::ssize(round.tokens) == limits.max_tokens) round.end = RoundEnd::budget;
}

/// Make the round of an outcome: the tokens along the accepted path, and the last token.
inline Round made_round(const DraftedText& draft, const RoundLimits& limits, RoundMemory& memory,
                        const Outcome& outcome) {
    const Links& shape = draft.links;
    Round round{.proposed = shape.size(),
                .depth = shape.depth(),
                .accepted = outcome.accepted,
                .last = outcome.last,
                .fault = outcome.fault};
    if (round.fault) return {.proposed = round.proposed, .fault = round.fault};
    const bool rejected = round.last == LastToken::recovered || round.last == LastToken::matched;
    round.evaluated = round.accepted + (rejected ? 1 : 0);
    const bool at_a_leaf = round.accepted > 0 && shape.first_child(outcome.node) == no_node;
    round.continued = round.accepted - (at_a_leaf ? 1 : 0);
    memory.path.resize(static_cast<std::size_t>(round.accepted));
    memory.tokens.resize(memory.path.size());
    Index node = outcome.node;
    for (std::size_t i = memory.path.size(); i-- > 0; node = shape.parent(node)) {
        memory.path[i] = node;
        memory.tokens[i] = draft.tokens[static_cast<std::size_t>(node)];
    }
    if (round.last != LastToken::stopped) memory.tokens.push_back(outcome.token);
    round.tokens = memory.tokens;
    round.path = memory.path;
    cut(draft, limits, memory.endings, round);
    return round;
}

/// Judge a draft whose arguments have been checked and converted. No type here depends on a model, so that all samplers
/// with rows of the same type share one instantiation, which <specsample/compiled.hpp> may provide.
template <class Id, class Distributions, class Rows, class Rule, class Source>
Round judge_plain(std::span<const Id> given, const Links& shape, Distributions& distributions, Rows& rows,
                  const Rule& rule, const Source& rng, const RoundLimits& limits, RoundMemory& memory) {
    const auto with = [&](const RowFault& fault) { return Round{.proposed = shape.size(), .fault = fault}; };
    using TargetRow = std::remove_cvref_t<Element<Rows>>;
    constexpr bool is_split = form_of<TargetRow>.split;

    // For rows split over ranks, all that the rule reads is exchanged at once, before anything is refused. So if one
    // rank was given different arguments, every rank returns a fault, and none waits for another forever.
    const auto gather = [&](const auto* first) -> std::optional<RowFault> {
        if constexpr (is_split)
            return TargetRow::template gather<Rule>(given, shape, distributions, rows, first, rng, limits);
        return std::nullopt;
    };
    constexpr const TargetRow* supplied = nullptr;
    if (rows_exist(rows))
        if (const auto bad = gather(supplied)) return with(*bad);
    if (!is_split || rows_exist(rows)) require_none(refusal_of_limits(limits));

    // Nothing follows the end of a text, so the row after a last drafted token that ends the text may be left out.
    const Index spare = !given.empty() && (limits.until || limits.stops(given.back())) ? 1 : 0;
    const Index needed_rows = shape.size() + 1 - spare;
    if (const auto bad = check_count(rows, Side::target, needed_rows, spare)) return with(*bad);
    TargetRows<Rows> target(rows);
    if (!rows_exist(rows))
        if (const auto bad = gather(&target.first())) return with(*bad);
    require_none(refusal_of_limits(limits));
    if constexpr (!DraftDistribution<std::remove_cvref_t<Distributions>>) {
        if (const auto bad = check_count(distributions, Side::draft, shape.size())) return with(*bad);
    }
    const Index vocab = target.vocab();
    if (vocab == 0) return with({.side = Side::target, .cause = Cause::empty});
    if (const auto bad = check_ids(given, Side::draft, vocab)) return with(*bad);
    if (const auto bad = check_ids(limits.stop_tokens, Side::limits, vocab)) return with(*bad);

    memory.start(given);
    const RoundContext<Distributions, Rows, Source> context{
        {shape, memory.drafted, distributions, memory}, target, rng, limits, vocab};
    if (spare == 1 && element_count(rows) == shape.size() && !context.ends(shape.size() - 1))
        return with(*check_count(rows, Side::target, shape.size() + 1));
    if (const auto bad = check_all(context)) return with(*bad);
    return made_round(context.drafted_text(), limits, memory, rule(context));
}

/// Return a list as const, so that fewer types are instantiated; unchanged, if it cannot be read as const.
template <class L>
auto& read_only(L& list) {
    if constexpr (requires { requires DraftDistributions<const L> || RowSource<const L>; }) {
        return std::as_const(list);
    } else {
        return list;
    }
}

/// Judge a draft that is given as lists in any form.
template <class Ids, class Distributions, class Rows, class Rule, class Source>
Round judge(const Ids& given, const Links& shape, Distributions& distributions, Rows& rows, const Rule& rule,
            const Source& rng, const RoundLimits& limits, RoundMemory& memory) {
    const std::span<const typename Ids::value_type> ids(given);
    auto& sources = read_only(distributions);
    if constexpr (form_of<std::remove_cvref_t<Element<Rows>>>.split) {  // ranks exchange a list as a whole
        return judge_plain(ids, shape, sources, read_only(rows), rule, rng, limits, memory);
    } else {
        const RowList list(read_only(rows));
        return judge_plain(ids, shape, sources, list, rule, rng, limits, memory);
    }
}

}  // namespace detail

/// Judge a draft: which of its tokens to accept, and which token to write after them.
///
/// @param tokens          [K] drafted token ids, of any integral type
/// @param distributions   [K] the distributions the tokens were drawn from: Sampled{row} each, or PointMass{} for all.
///                        draft_token draws a token for the rule and returns it with a distribution that detects a row,
///                        or a list of tokens, that was changed later. For logits, such a distribution also saves the
///                        pass in which Sampled{row} finds the normaliser
/// @param rows            [K + 1] target probabilities; row i follows drafted token i - 1. A row-major matrix, anything
///                        indexed [i], or a callable of i that computes rows when they are needed. The row after a
///                        drafted token that ends the text (a stop token, or by limits.until) is never asked for, so K
///                        rows are enough if the last token ends the text. A callable is asked for row 0, then for the
///                        rows that the walk reaches, each once on the way down; block and traversal verification ask
///                        again on the way up
/// @param rule            a Rule: TokenVerification{}, another of the library's, or your own (verify/rule.hpp)
/// @param rng             RoundRng{seed, request, round start}, or any source with at(purpose, node)
/// @param limits          stop tokens, a token budget, how much to check
/// @param workspace       memory for the tokens of the result
/// @returns               the round; on bad data a round with a fault and no tokens
/// @throws                std::invalid_argument if limits.max_tokens < 1, for tokens at a null or misaligned address,
///                        and for a Mixed distribution of a token that was drawn from a row under a rule that shares
///                        the target's noise; nothing on bad data
/// @draws                 the draws of the rule
/// @cost                  the cost of the rule; under Check::every_row also a pass over every row that is checked in
///                        full, draft rows included. No row is copied, and nothing is allocated once the workspace has
///                        held as many tokens
/// @edge                  no drafted tokens: one token from row 0. A round that is cut by an accepted stop token, the
///                        budget or limits.until has no last token. If limits.until leaves out the first token, the
///                        round has no token at all
template <class Tokens, class Distributions, class Rows, class Rule, class Source>
    requires(!detail::RowValues<Rows>)
[[nodiscard]] Round verify(const Tokens& tokens, Distributions&& distributions, Rows&& rows, const Rule& rule,
                           const Source& rng, const RoundLimits& limits, Workspace& workspace) {
    using Arguments = detail::VerifyArguments<detail::Ids<Tokens>, std::remove_reference_t<Distributions>,
                                              std::remove_reference_t<Rows>, Rule, Source>;
    if constexpr (Arguments::all) {
        const auto given = std::span(tokens);
        detail::require_memory("verify", "tokens", given);
        if constexpr (detail::shares_noise<Rule>)
            detail::require_none(detail::refusal_of_drawn<Rule>(distributions, static_cast<Index>(given.size())));
        detail::RoundMemory& memory = detail::memory_of(workspace);
        return detail::judge(given, memory.chain(std::ssize(given)), distributions, rows, rule, rng, limits, memory);
    } else {
        return {};
    }
}

/// Judge a token tree. Everything that is not listed here is as for a chain.
///
/// @param tree            [K] drafted tokens, and the parent of each
/// @param distributions   [K] the distributions of the nodes
/// @param rows            [K + 1] target probabilities; row 0 follows the prefix, row i + 1 follows node i. The row
///                        after a node that ends the text is never asked for
/// @throws                std::invalid_argument if a parent is not -1 or an earlier node, or there are not as many
///                        parents as tokens
template <class Id, class Parent, class Distributions, class Rows, class Rule, class Source>
    requires(!detail::RowValues<Rows>)
[[nodiscard]] Round verify(const Tree<Id, Parent>& tree, Distributions&& distributions, Rows&& rows, const Rule& rule,
                           const Source& rng, const RoundLimits& limits, Workspace& workspace) {
    using Arguments =
        detail::VerifyArguments<detail::Integer<Id> && detail::Integer<Parent>, std::remove_reference_t<Distributions>,
                                std::remove_reference_t<Rows>, Rule, Source>;
    if constexpr (Arguments::all) {
        detail::require_none(detail::refusal_of_sizes(tree.tokens.size(), tree.parents.size()));
        if constexpr (detail::shares_noise<Rule>)
            detail::require_none(detail::refusal_of_drawn<Rule>(distributions, std::ssize(tree.tokens)));
        detail::RoundMemory& memory = detail::memory_of(workspace);
        return detail::judge(tree.tokens, memory.tree(tree.parents), distributions, rows, rule, rng, limits, memory);
    } else {
        return {};
    }
}

}}  // namespace specsample

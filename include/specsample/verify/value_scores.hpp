// draft_scores for rows and origins that are values. verify/scores.hpp says what it does.
#pragma once

#include <optional>
#include <span>

#include <specsample/verify/scores.hpp>
#include <specsample/verify/values.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Score a draft of values. Every row is read as `Value`.
template <class Value>
std::span<const DraftScore> score_values(const Links& shape, std::span<const Token> tokens, const Origins& origins,
                                         const Rows& rows, const std::optional<Row>& first, const RoundRng& rng,
                                         const Round& round, Scores& memory) {
    const RowValueList<Value> target(rows, first);
    const OriginList<Value> list(origins, tokens.size());
    return score_drafts(shape, tokens, list, target, rng, round, memory);
}

inline std::span<const DraftScore> scores_of_values(const Links& shape, std::span<const Token> tokens,
                                                    const Origins& origins, const Rows& rows, const RoundRng& rng,
                                                    const Round& round, Scores& memory) {
    require_origins(origins, false, false);
    const std::optional<Row> first = rows[0];
    const auto scored = has_doubles(origins, rows, first) ? score_values<double> : score_values<float>;
    return scored(shape, tokens, origins, rows, first, rng, round, memory);
}

}  // namespace detail

/// Score every drafted token that a round of values decided and did not cut.
/// @param round    without a fault; of a ratio rule. The other arguments are the ones that the round was given
/// @param memory   holds the result
/// @throws         std::invalid_argument for an origin that has no ratio
inline std::span<const DraftScore> draft_scores(const Round& round, std::span<const Token> tokens,
                                                const detail::Origins& origins, const Rows& rows, const RoundRng& rng,
                                                Scores& memory) {
    const detail::Links& links = memory.notes.chain(std::ssize(tokens));
    return detail::scores_of_values(links, tokens, origins, rows, rng, round, memory);
}

/// Score the drafted tokens of a tree in the same way.
template <class Parent>
std::span<const DraftScore> draft_scores(const Round& round, const Tree<Token, Parent>& tree,
                                         const detail::Origins& origins, const Rows& rows, const RoundRng& rng,
                                         Scores& memory) {
    const detail::Links& links = memory.notes.tree(tree.parents);
    return detail::scores_of_values(links, tree.tokens, origins, rows, rng, round, memory);
}

}}  // namespace specsample

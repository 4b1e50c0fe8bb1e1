// draft_token for rows that are values. drafters/draft_token.hpp says what it does.
#pragma once

#include <optional>
#include <span>

#include <specsample/core/fault.hpp>
#include <specsample/core/rule_claim.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/tree/origin.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

// drafters/draft_row.hpp defines these.

/// Draw the token of a node from a row, with the drafter's own numbers.
template <class Value>
DraftedValue draft_alone(const RoundRng& rng, Index node, const Row& row, Index depth, std::span<const Token> without);

/// Draw the token of a node from a row, with the noise that the target has at this depth.
template <class Value>
DraftedValue draft_shared(const RoundRng& rng, const Row& row, Index depth, std::span<const Token> without);

/// Check a row, as kernels::inspect does: a drafter does where nothing can be drawn.
template <class Value>
std::optional<RowFault> inspect_as(const Row& row, Side side, Index number);

}  // namespace detail

namespace kernels {

/// Check that a row that is a value is a distribution.
template <detail::RowValue R>
std::optional<RowFault> inspect(const R& row, Side side, Index number) {
    return detail::as_read(row.scalar(), [&]<class Value>() { return detail::inspect_as<Value>(row, side, number); });
}

}  // namespace kernels

/// Draw the token of a node for a rule from a row that is a value, and return it with its origin.
///
/// @param node      the node's number; in a chain, the place of the token
/// @param row       the row; what it views is borrowed until the round ends
/// @param depth     the number of drafted tokens on the path before the node
/// @param without   the tokens of the node's older siblings, which are not drawn again; borrowed until the round ends
/// @returns         the token, -1 if nothing can be drawn, and what it was drawn from
/// @draws           one: the draft draw of the node, or under a rule that shares the target's noise the race at the
///                  depth
/// @cost            one pass, two over logits with ids removed
template <class Rule>
[[nodiscard]] detail::DraftedValue draft_token(const Rule&, const RoundRng& rng, Index node, const Row& row,
                                               Index depth, ListRef<Token> without) {
    static_assert(sizeof(detail::DraftRule<Rule>) > 0);
    return detail::as_read(row.scalar(), [&]<class Value>() {
        if constexpr (detail::shares_noise<Rule>)
            return detail::draft_shared<Value>(rng, row, depth, without);
        else
            return detail::draft_alone<Value>(rng, node, row, depth, without);
    });
}
/// Draw the token of a drafted chain.
template <class Rule>
[[nodiscard]] detail::DraftedValue draft_token(const Rule& rule, const RoundRng& rng, Index node, const Row& row) {
    return draft_token(rule, rng, node, row, node, {});
}

}}  // namespace specsample

#if !defined(SPECSAMPLE_COMPILED)
#include <specsample/drafters/draft_row.hpp>  // IWYU pragma: export
#endif

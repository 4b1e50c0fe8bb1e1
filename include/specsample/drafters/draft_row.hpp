// The draws of draft_token from rows that are values, and the check of a row that gave no token.
#pragma once

#include <optional>
#include <span>
#include <type_traits>

#include <specsample/drafters/draft_token.hpp>
#include <specsample/drafters/draft_value.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/rows/row_view.hpp>
#include <specsample/tree/distribution.hpp>
#include <specsample/tree/origin.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Stands for any rule that does not share its noise: such rules draw drafts alike.
struct DrawsAlone {
    static constexpr bool lossless = true;
};

/// Return the origin of a distribution that was made of a row.
template <class View>
Origin origin_of(Row row, const Sampled<View>& distribution) {
    if (row.are_logits()) parts_of(row).found = Encoding<double>(distribution.row().functor().encoding());
    return OriginAccess::origin(row, distribution.without(), distribution.drawn());
}

/// Draw the token of a node from a row, with the drafter's own numbers.
template <class Value>
DraftedValue draft_alone(const RoundRng& rng, Index node, const Row& row, Index depth, std::span<const Token> without) {
    const RowView<Value> view(row);
    const auto [token, distribution] = draft_token(DrawsAlone{}, rng, node, view, depth, ListRef<Token>(without));
    return {token, origin_of(row, distribution)};
}

/// Draw the token of a node from a row, with the noise that the target has at this depth.
template <class Value>
DraftedValue draft_shared(const RoundRng& rng, const Row& row, Index depth, std::span<const Token> without) {
    return {first_to_arrive(rng.at(Purpose::race, depth), RowView<Value>(row), without), Origin::shared_noise()};
}

template <class Children, class RngOf, class Add>
void take_children(const Children& children, const Row& row, std::span<Token> ids, const RngOf& rng, const Add& add) {
    with_row(row, [&](const auto& view) {
        children(view, ids, rng, [&](auto token, const auto& distribution) {
            if constexpr (RowDistribution<std::remove_cvref_t<decltype(distribution)>>) {
                auto drawn = distribution;
                drawn.remember(static_cast<Token>(token));
                add(token, origin_of(row, drawn));
            } else {
                add(token, Origin::named());
            }
        });
    });
}

template <class Value>
std::optional<RowFault> inspect_as(const Row& row, Side side, Index number) {
    return inspect_view(RowView<Value>(row).probs(), side, number);
}

}}}  // namespace specsample::detail

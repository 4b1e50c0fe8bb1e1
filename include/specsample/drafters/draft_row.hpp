// The draws of draft_token from rows that are values.
#pragma once

#include <span>

#include <specsample/drafters/draft_token.hpp>
#include <specsample/drafters/draft_value.hpp>
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

}}}  // namespace specsample::detail

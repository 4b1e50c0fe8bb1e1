// A model as a drafter of chains: one token after another.
//
//   ChainDrafter(model)         drafts up to the depth limit
//   ChainDrafter(model, stop)   ends a chain earlier where `stop` says so
#pragma once

#include <concepts>

#include <specsample/drafters/chain_drafter.hpp>  // IWYU pragma: export
#include <specsample/drafters/draft_token.hpp>
#include <specsample/random/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <RowLike R, class Source, class L>
Index draw_child(const R& row, Index parent, const Source& rng, DraftTree<L>& draft_tree) {
    const Index node = draft_tree.size();
    if constexpr (std::same_as<L, SharedNoise>) {
        const Index token = race(rng.at(Purpose::race, draft_tree.depth(parent)), row);
        if (token >= 0) return draft_tree.add(parent, token, SharedNoise{});
    } else {
        const auto drawn = drawn_from(row, rng.at(Purpose::draft, node));
        Sampled distribution(drawn.probs);
        distribution.know_rest(drawn.rest);
        if (drawn.token >= 0) return draft_tree.add(parent, drawn.token, distribution);
    }
    return draft_tree.decline(row);
}

}}}  // namespace specsample::detail

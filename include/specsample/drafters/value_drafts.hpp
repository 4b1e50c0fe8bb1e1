// Draws of drafters from rows that are values. drafters/chain.hpp has those from rows that are types.
#pragma once

#include <concepts>
#include <optional>

#include <specsample/drafters/chain_drafter.hpp>
#include <specsample/drafters/draft_value.hpp>
#include <specsample/rows/row_copy.hpp>
#include <specsample/tree/draft_tree.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class Source, class L>
Index draw_child(const Row& row, Index parent, const Source& rng, DraftTree<L>& draft_tree) {
    static_assert(std::same_as<Source, RoundRng>,
                  "specsample: rows that are values are drawn from with RoundRng; let the models return rows that are "
                  "types, as std::vector<float>, for another source of random numbers");
    constexpr bool is_shared = std::same_as<L, SharedNoise>;
    const DraftedValue drawn = as_read(row.scalar(), [&]<class Value>() {
        if constexpr (is_shared)
            return draft_shared<Value>(rng, row, draft_tree.depth(parent), {});
        else
            return draft_alone<Value>(rng, draft_tree.size(), row, draft_tree.depth(parent), {});
    });
    if constexpr (!is_shared)
        return draft_tree.add(parent, drawn.token, drawn.origin);
    else if (drawn.token >= 0)
        return draft_tree.add(parent, drawn.token, SharedNoise{});
    return draft_tree.decline(row);
}

}  // namespace detail

}}  // namespace specsample

#if !defined(SPECSAMPLE_COMPILED)
#include <specsample/drafters/draft_row.hpp>  // IWYU pragma: export
#endif

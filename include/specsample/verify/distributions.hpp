// The distributions of drafted nodes: one for all nodes (PointMass{}), anything indexed [i], or a callable of i.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <specsample/rows/rows.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

namespace detail {

/// One distribution for all nodes, or one per node.
template <class L>
concept DraftDistributions =
    DraftDistribution<std::remove_cvref_t<L>> || ((std::invocable<L&, Index> || detail::Indexed<L>)&&requires {
        requires DraftDistribution<std::remove_cvref_t<detail::Element<L>>>;
    });

/// The distribution of a node.
template <DraftDistributions L>
decltype(auto) distribution_at(L& distributions, Index node) {
    if constexpr (DraftDistribution<std::remove_cvref_t<L>>) {
        return (distributions);
    } else {
        return element(distributions, node);
    }
}

/// The type of a view of the rows behind distributions of type L; `Other` if they have none.
template <class L, class Other>
struct RowBehind {
    using type = Other;
};
template <RowDistribution L, class Other>
struct RowBehind<L, Other> {
    using type = std::remove_cvref_t<decltype(std::declval<const L&>().row())>;
};

}  // namespace detail
}  // inline namespace
}  // namespace specsample

// Laws by drafted node: one for all nodes (PointMass{}), anything indexed [i], or a callable of i.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <specsample/core/rows.hpp>
#include <specsample/proposal/law.hpp>

namespace specsample {

template <class L>
concept LawSource = Law<std::remove_cvref_t<L>> || ((std::invocable<L&, Index> || detail::Indexed<L>)&&requires {
                        requires Law<std::remove_cvref_t<detail::Element<L>>>;
                    });

namespace detail {

template <LawSource L>
decltype(auto) law_at(L& laws, Index node) {
    if constexpr (Law<std::remove_cvref_t<L>>) {
        return (laws);
    } else {
        return element(laws, node);
    }
}

/// The view of the rows behind laws of one type; `Other` where there are none.
template <class L, class Other>
struct RowBehind {
    using type = Other;
};
template <RowLaw L, class Other>
struct RowBehind<L, Other> {
    using type = std::remove_cvref_t<decltype(std::declval<const L&>().row())>;
};

}  // namespace detail
}  // namespace specsample

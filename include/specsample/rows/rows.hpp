// Several rows by number: a matrix, a container or a callable.
//
//   RowSource            what `verify` takes as rows
//   element(source, i)   row i
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/fault.hpp>
#include <specsample/core/row_kinds.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Whether a list of rows owns its rows, so that they do not outlive it.
template <class Source>
inline constexpr bool owns_rows = !std::is_reference_v<Source> && !EigenView<Source> && !is_view<Source>;

template <class Source>
concept Indexed = requires(Source& source) { source[std::size_t{}]; };

/// Return element i of a matrix, a callable or a container.
template <class Source>
decltype(auto) element(Source& source, Index i) {
    if constexpr (EigenMatrix<std::remove_cvref_t<Source>>) {
        return source.row(i);
    } else if constexpr (std::invocable<Source&, Index>) {
        return source(i);
    } else {
        return source[static_cast<std::size_t>(i)];
    }
}

template <class Source>
using Element = decltype(element(std::declval<Source&>(), Index{}));

/// Rows that are values, by position.
template <class Source>
concept ValueList = RowValue<Element<Source>>;

/// A source that knows how many elements it has.
template <class Source>
concept Counted = EigenMatrix<Source> || requires(const Source& source) { std::size(source); };

/// A list of rows behind one type, or of rows that are values: count() is -1 where its source does not know it.
template <class Source>
concept Counts = !Counted<Source> && requires(const Source& source) {
    { source.count() } -> std::same_as<Index>;
};

/// Return the number of elements of a source; `unknown` if the source does not know it.
template <class Source>
Index element_count(const Source& source, Index unknown = -1) {
    if constexpr (EigenMatrix<Source>) {
        return source.rows();
    } else if constexpr (Counted<Source>) {
        return static_cast<Index>(std::size(source));
    } else if constexpr (Counts<Source>) {
        return source.count() < 0 ? unknown : source.count();
    } else {
        return unknown;
    }
}

/// Check that a source which knows its size has `expected` elements, or up to `spare` more.
template <class Source>
std::optional<RowFault> check_count(const Source& source, Side side, Index expected, Index spare = 0) {
    const Index count = element_count(source, expected);
    if (count >= expected && count <= expected + spare) return std::nullopt;
    return RowFault{.side = side,
                    .cause = Cause::wrong_count,
                    .value = static_cast<double>(count),
                    .bound = static_cast<double>(expected)};
}

/// Whether every element exists already, so that checking all elements computes none.
template <class Source>
inline constexpr bool is_supplied = EigenMatrix<std::remove_cvref_t<Source>> || !std::invocable<Source&, Index>;

/// Tell whether every row exists already, so that checking all rows computes none.
template <class Source>
[[gnu::always_inline]] constexpr bool rows_exist(const Source&) {
    return is_supplied<Source>;
}

/// Rows by position: a matrix, anything indexed [i], or a callable with i.
template <class R>
concept RowSource = (detail::EigenMatrix<std::remove_cvref_t<R>> || std::invocable<R&, Index> ||
                     detail::Indexed<R>)&&requires(R& rows, Index i) {
    { detail::element(rows, i) } -> RowLike;
};

}  // namespace detail

}}  // namespace specsample

// Several rows by number: a matrix, a container or a callable.
//
//   RowSource            what `verify` takes as rows
//   element(source, i)   row i
//   RowRef               one row: a view, or the row itself where the source returns it by value
//   OwnedRow             a copy of a row, with memory of its own
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/row.hpp>

namespace specsample::inline SPECSAMPLE_ABI {
namespace detail {

template <class R>
concept EigenMatrix = requires(const R& rows) { any_eigen(rows); };
/// Eigen objects that own their numbers, and those that view memory. Any other expression may hold temporaries.
template <class R>
concept EigenOwner = requires(const R& rows) { owning_eigen(rows); };
template <class R>
concept EigenView = requires(const R& rows) { viewing_eigen(rows); };

template <class R>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;

template <class Source>
concept Indexed = requires(Source& source) { source[std::size_t{}]; };

/// Element i of a matrix, a callable or a container.
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

/// The number of elements of a source, if it knows.
template <class Source>
std::optional<Index> element_count(const Source& source) {
    if constexpr (EigenMatrix<Source>) {
        return source.rows();
    } else if constexpr (requires { source.size(); }) {
        return static_cast<Index>(source.size());
    } else {
        return std::nullopt;
    }
}

/// Whether every element exists already, so that a check of all of them computes none.
template <class Source>
inline constexpr bool is_supplied = EigenMatrix<std::remove_cvref_t<Source>> || !std::invocable<Source&, Index>;

/// One row of a source: a view of the source's memory, or the row itself where the source returned it by value.
template <class Answer>
class RowRef {
    using R = std::remove_cvref_t<Answer>;
    static constexpr bool is_borrowed = std::is_lvalue_reference_v<Answer>;
    static constexpr bool is_kept =
        StatedRow<R> || (!is_borrowed && (EigenOwner<R> || (ContiguousRow<R> && !is_span<R>)));
    static constexpr bool is_pointed_at = StatedRow<R> && is_borrowed;
    using Stored = std::conditional_t<is_pointed_at, const R*, std::conditional_t<is_kept, R, row_view_t<Answer>>>;

    static Stored store(Answer&& row) {
        if constexpr (is_pointed_at) {
            return &row;
        } else if constexpr (is_kept) {
            return std::move(row);
        } else {
            return as_row(row);
        }
    }

  public:
    explicit RowRef(Answer&& row) : row_(store(std::forward<Answer>(row))) {}

    /// The row in the form in which the source gave it.
    const auto& row() const {
        if constexpr (is_pointed_at) {
            return *row_;
        } else {
            return row_;
        }
    }

    /// Its probabilities.
    auto view() const { return as_row(row()); }
    Index size() const { return row_size(row()); }

  private:
    Stored row_;
};

/// A copy of a row, for rows that must outlive the source's next call.
template <class R>
struct OwnedRow {
    using type = std::vector<row_scalar_t<R>>;  // an Eigen::Array would allocate whenever the size changes

    static void keep(type& kept, const R& row) {
        const auto view = as_row(row);
        kept.resize(static_cast<std::size_t>(view.size()));
        Eigen::Map<Eigen::Array<row_scalar_t<R>, Eigen::Dynamic, 1>>(kept.data(), view.size()) = view;
    }
};
template <StatedRow R>
struct OwnedRow<R> {
    using type = typename R::Kept;
    static void keep(type& kept, const R& row) { row.keep_in(kept); }
};

}  // namespace detail

namespace detail {

/// Rows by position: a matrix, anything indexed [i], or a callable with i.
template <class R>
concept RowSource = (detail::EigenMatrix<std::remove_cvref_t<R>> || std::invocable<R&, Index> ||
                     detail::Indexed<R>)&&requires(R& rows, Index i) {
    { detail::element(rows, i) } -> Row;
};
}  // namespace detail

}  // namespace specsample

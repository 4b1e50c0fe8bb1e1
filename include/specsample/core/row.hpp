// Rows: the distribution of one position in any of the forms that users have, seen as an array.
//
//   as_row(row)     the row's probabilities as a column array: a Map where there is memory, an expression otherwise
//   row_view_t<R>   the type of that array
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/row_kinds.hpp>  // IWYU pragma: export
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

template <class Scalar>
using Column = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <class Scalar>
using StridedColumn = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;

template <class R>
inline constexpr bool is_column_array =
    R::ColsAtCompileTime == 1 && std::is_base_of_v<Eigen::ArrayBase<std::remove_cvref_t<R>>, std::remove_cvref_t<R>>;

/// View numbers in memory.
/// @throws   std::invalid_argument for numbers at null, or at an address that is not aligned
template <class Scalar>
Column<Scalar> column(const Scalar* data, Index size) {
    require_memory("Row", "the address of a row", data, static_cast<std::size_t>(size));
    return {data, size};
}
template <class Scalar>
StridedColumn<Scalar> column(const Scalar* data, Index size, Index step) {
    require_memory("Row", "the address of a row", data, static_cast<std::size_t>(size));
    return {data, size, Eigen::InnerStride<>(step)};
}

/// View the probabilities of `row` as a column array, without a copy.
/// @cost O(1); one pass for a row of logits whose normaliser is not known yet
/// @edge an expression without memory stays an expression: it is valid as long as its operands are
template <RowLike R>
auto as_row(const R& row) {
    if constexpr (StatedRow<R>) {
        return row.probs();
    } else if constexpr (ContiguousRow<R>) {
        const auto memory = std::span(row);
        using Scalar = typename decltype(memory)::value_type;
        return column<Scalar>(memory.data(), static_cast<Index>(memory.size()));
    } else if constexpr (detail::is_column_array<R> && !detail::has_memory<R>) {
        return row.derived();
    } else if constexpr (!detail::has_memory<R>) {
        return row.reshaped().array().derived();
    } else if constexpr (R::InnerStrideAtCompileTime == 1) {
        return column<typename R::Scalar>(row.derived().data(), row.size());
    } else {
        return column<typename R::Scalar>(row.derived().data(), row.size(), row.derived().innerStride());
    }
}

/// The type of as_row(row): a Map where the row has memory, an expression otherwise.
template <RowLike R>
using row_view_t = decltype(as_row(std::declval<const std::remove_cvref_t<R>&>()));

/// The type of the numbers in a row.
template <RowLike R>
using row_scalar_t = typename row_view_t<R>::Scalar;

}  // namespace detail

}}  // namespace specsample

// The rows that a call may return.
//
//   owns<R>, borrows<R>   whose the numbers are
//   ReturnedRow           a row that outlives the call
//   ReturnedRows          several of them
#pragma once

#include <concepts>
#include <type_traits>

#include <specsample/rows/rows.hpp>

namespace specsample::inline SPECSAMPLE_ABI::detail {

/// Whether a row owns its numbers, so that they are gone with it.
template <class R>
inline constexpr bool owns = EigenOwner<R> || (ContiguousRow<R> && !is_span<R>);
template <StatedRow R>
inline constexpr bool owns<R> = !R::borrows;

/// Whether rows returned as R borrow memory, and must be copied to outlive the model's next call.
template <class R>
inline constexpr bool borrows = std::is_lvalue_reference_v<R> || !owns<std::remove_cvref_t<R>>;

/// A row that a callable may return: it owns its numbers or views memory that outlives the call.
template <class R>
concept ReturnedRow = Row<R> && (ContiguousRow<std::remove_cvref_t<R>> || EigenOwner<std::remove_cvref_t<R>> ||
                                 EigenView<std::remove_cvref_t<R>> || std::remove_cvref_t<R>::outlives_its_making);

template <class R>
concept RowMajorRows = bool(R::IsRowMajor) && !bool(R::IsVectorAtCompileTime) && Floating<typename R::Scalar> &&
                       (EigenOwner<R> || EigenView<R>);
template <class R>
concept IndexedRows = !EigenMatrix<R> && requires(const R& rows) {
    { rows[std::size_t{}] } -> Row;
};

/// Several rows returned by one call.
template <class R>
concept ReturnedRows = RowMajorRows<std::remove_cvref_t<R>> || IndexedRows<std::remove_cvref_t<R>>;

}  // namespace specsample::detail

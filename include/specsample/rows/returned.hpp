// The rows that models return: which types they may have, and who keeps them. This header does without Eigen.
//
//   borrows<R>       whether R views some of its numbers; a sparse row may own the others (owns<R>, core/row_kinds.hpp)
//   ReturnedRow(s)   rows that a callable may return, because they outlive the call
//   with_row         reads a row of either kind as one that is a type
//   RowRef           one row, borrowed until its source is asked for another
//   OwnedRow         one row, owned
#pragma once

#include <cstddef>
#include <type_traits>

#include <specsample/core/row_kinds.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Whether a part of a row owns its numbers. The type of a part that is only viewed is a reference.
template <class R>
inline constexpr bool owns_part = !std::is_reference_v<R> && owns<R>;

/// Whether rows returned as R borrow some memory, and must be copied to outlive the model's next call.
template <class R>
inline constexpr bool borrows = std::is_lvalue_reference_v<R> || !owns<std::remove_cvref_t<R>>;
template <class R>
    requires StatedRow<std::remove_cvref_t<R>>
inline constexpr bool borrows<R> = std::is_lvalue_reference_v<R> || std::remove_cvref_t<R>::borrows;

template <RowValue R>
inline constexpr bool borrows<R> = true;

/// A row that a callable may return: it owns its numbers or views memory that outlives the call.
template <class R>
concept ReturnedRow =
    RowValue<R> || (RowLike<R> && (ContiguousRow<std::remove_cvref_t<R>> || EigenOwner<std::remove_cvref_t<R>> ||
                                   EigenView<std::remove_cvref_t<R>> || std::remove_cvref_t<R>::outlives_its_making));

template <class R>
concept RowMajorRows = bool(R::IsRowMajor) && !bool(R::IsVectorAtCompileTime) && Floating<typename R::Scalar> &&
                       (EigenOwner<R> || EigenView<R>);
template <class R>
concept IndexedRows = !EigenMatrix<R> && requires(const R& rows) {
    { rows[std::size_t{}] } -> RowLike;
};
template <class R>
concept IndexedValues = !EigenMatrix<R> && requires(const R& rows) {
    { rows[std::size_t{}] } -> RowValue;
};

/// Several rows returned by one call.
template <class R>
concept ReturnedRows = RowMajorRows<std::remove_cvref_t<R>> || IndexedRows<std::remove_cvref_t<R>> ||
                       IndexedValues<std::remove_cvref_t<R>>;

template <class Value>
class RowView;  // rows/row_view.hpp
/// The view of a row that is a value. It depends on R, so that it may be incomplete here.
template <RowValue R, class Value>
using ViewOf = RowView<std::conditional_t<RowValue<R>, Value, R>>;

/// Call f(row) with a row that is a type.
template <RowLike R, class F>
decltype(auto) with_row(const R& row, const F& f) {
    return f(row);
}
/// Call f(view) with the view of a row that is a value, by its scalar.
template <RowValue R, class F>
decltype(auto) with_row(const R& row, const F& f) {
    static_assert(
        requires { sizeof(ViewOf<R, float>); },
        "specsample: what reads rows that are values here is not in the compiled library; include "
        "<specsample/rows/row_view.hpp>");
    return row.scalar() == R::Scalar::f64 ? f(ViewOf<R, double>(row)) : f(ViewOf<R, float>(row));
}
/// Call f(a, b) with two rows, each as with_row sees it.
template <AnyRow A, AnyRow B, class F>
decltype(auto) with_rows(const A& a, const B& b, const F& f) {
    return with_row(
        a, [&](const auto& first) { return with_row(b, [&](const auto& second) { return f(first, second); }); });
}

template <RowLike R>
auto as_row(const R& row);  // core/row.hpp

template <class Answer>
class RowRef;  // rows/owner.hpp
template <RowValue Answer>
class RowRef<Answer>;  // rows/row_copy.hpp
template <class Answer>
class OwnedRow;  // rows/owner.hpp
template <RowValue Answer>
class OwnedRow<Answer>;  // rows/row_copy.hpp

}}}  // namespace specsample::detail

// Rows: the distribution of one position in any of the forms that users have, seen as an array.
//
//   RowLike         any Eigen vector expression, contiguous memory of floating-point numbers, or a row with an encoding
//                   of its own (Logits, Sparse)
//   as_row(row)     the row's probabilities as a column array: a Map where there is memory, an expression otherwise
//   row_view_t<R>   the type of that array
//   row_size(row)   the size of the row's vocabulary
//   Integer         token ids in arguments: any integral type
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// The scalars of a row. Sums and decisions are in double, whatever the row is stored in.
template <class T>
concept Floating = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, Eigen::half> ||
                   std::same_as<T, Eigen::bfloat16>;

/// The types of token ids in arguments.
template <class T>
concept Integer = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

// Eigen types are recognised by these functions, not by lambdas: clang 16 treats a lambda inside a concept as satisfied
// when the concept is used in a template.
template <class D>
void any_eigen(const Eigen::DenseBase<D>&);
template <class D>
void owning_eigen(const Eigen::PlainObjectBase<D>&);
template <class P, int O, class S>
void viewing_eigen(const Eigen::Map<P, O, S>&);

/// An Eigen expression that is a row or a column at compile time.
template <class R>
concept EigenRow = requires(const R& row) { detail::any_eigen(row); } && bool(R::IsVectorAtCompileTime) &&
                   Floating<typename R::Scalar>;

template <class R>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

/// Contiguous memory with a size: std::vector, std::span, std::array. An initializer_list is excluded: a function can
/// return it, but its numbers are gone by then.
template <class R>
concept ContiguousRow = !EigenRow<R> && !is_initializer_list<R> && requires(const R& row) { std::span(row); } &&
                        Floating<typename decltype(std::span(std::declval<const R&>()))::value_type>;

/// What a row states about itself, beside its probabilities. Whoever reads a row asks its form, and not whether it has
/// a certain member: so a member that is missing or misspelt does not compile, where it would be another path
/// otherwise.
struct RowForm {
    bool logits = false;  ///< logits, which weights(), unnormalised() and encoded(encoding) read without a normaliser;
                          ///< or a row of which has_logits() says so at run time
    bool listed = false;  ///< some ids only: ids(), held() with the numbers of these ids, and is_refused()
    bool split = false;   ///< over ranks: state(), and is_sound() where no further check is needed
};

/// A row whose numbers are not plain probabilities: row.probs() gives the probabilities as an expression over
/// row.size() ids, and row.argmax() the id of the largest.
template <class R>
concept StatedRow = !EigenRow<R> && !ContiguousRow<R> && requires(const R& row) {
    { row.size() } -> std::convertible_to<Index>;
    { R::form } -> std::convertible_to<RowForm>;
    row.probs();
    typename R::Owned;  // a row of the same encoding that owns its memory; row.copy_to(owned) copies into it
};

/// The form of any row: plain probabilities state nothing.
template <class R>
inline constexpr RowForm form_of{};
template <StatedRow R>
inline constexpr RowForm form_of<R> = R::form;

template <class R>
concept EigenMatrix = requires(const R& rows) { any_eigen(rows); };
/// Eigen objects that own their numbers (EigenOwner) or view memory (EigenView). Other expressions may hold
/// temporaries.
template <class R>
concept EigenOwner = requires(const R& rows) { owning_eigen(rows); };
template <class R>
concept EigenView = requires(const R& rows) { viewing_eigen(rows); };

/// Whether a contiguous list views memory: a span, or a user's type that is trivially copyable, at most four words
/// long, and without a fixed number of elements.
template <class R>
inline constexpr bool is_view =
    std::ranges::enable_borrowed_range<R> ||
    (std::is_trivially_copyable_v<R> && sizeof(R) <= 4 * sizeof(void*) && !requires { std::tuple_size<R>::value; });

/// Whether a row, or a list of ids, owns some of its numbers, so that they do not outlive it.
template <class R>
inline constexpr bool owns =
    EigenOwner<R> || (!EigenMatrix<R> && !is_view<R> && requires(const R& list) { std::span(list); });
template <StatedRow R>
inline constexpr bool owns<R> = R::owns;

}  // namespace detail

/// One position's distribution over the vocabulary.
template <class R>
concept RowLike = detail::EigenRow<std::remove_cvref_t<R>> || detail::ContiguousRow<std::remove_cvref_t<R>> ||
                  detail::StatedRow<std::remove_cvref_t<R>>;

namespace detail {

template <class Scalar>
using Column = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <class Scalar>
using StridedColumn = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;

template <class R>
inline constexpr bool has_memory = bool(Eigen::internal::traits<R>::Flags & Eigen::DirectAccessBit);

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

/// Return the number of ids of a row: the size of its vocabulary.
template <RowLike R>
Index row_size(const R& row) {
    if constexpr (ContiguousRow<R>)
        return static_cast<Index>(std::span(row).size());
    else
        return row.size();
}

/// The type of as_row(row): a Map where the row has memory, an expression otherwise.
template <RowLike R>
using row_view_t = decltype(as_row(std::declval<const std::remove_cvref_t<R>&>()));

/// The type of the numbers in a row.
template <RowLike R>
using row_scalar_t = typename row_view_t<R>::Scalar;

}  // namespace detail

}}  // namespace specsample

// The kinds of rows that users have, told apart by their types alone: this header does without Eigen.
//
//   RowLike         any Eigen vector expression, contiguous memory of floating-point numbers, or a row with an encoding
//                   of its own (Logits, Sparse)
//   row_size(row)   the size of the row's vocabulary
//   Integer         token ids in arguments: any integral type
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <specsample/core/types.hpp>

// What this header knows of Eigen: the names of its types.
namespace Eigen {
template <class Derived>
class DenseBase;
template <class Derived>
class PlainObjectBase;
template <class Plain, int options, class Stride>
class Map;
template <class Scalar, int rows, int columns, int options, int most_rows, int most_columns>
class Matrix;
template <class Scalar, int rows, int columns, int options, int most_rows, int most_columns>
class Array;
struct half;
struct bfloat16;
}  // namespace Eigen

namespace specsample { inline namespace SPECSAMPLE_ABI {

class Row;   // rows/row.hpp
class Rows;  // rows/row.hpp

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

/// Whether an Eigen expression has its numbers in memory: Eigen::DirectAccessBit, as core/eigen.hpp checks.
template <class R>
inline constexpr bool has_memory = (static_cast<unsigned>(R::Flags) & 0x40) != 0;

/// A row that is a value (rows/row.hpp).
template <class R>
concept RowValue = std::same_as<std::remove_cvref_t<R>, Row>;

/// A row of either kind, as a model may return it.
template <class R>
concept AnyRow = RowLike<R> || RowValue<R>;

/// Return the number of ids of a row: the size of its vocabulary.
template <AnyRow R>
Index row_size(const R& row) {
    if constexpr (ContiguousRow<R>)
        return static_cast<Index>(std::span(row).size());
    else
        return row.size();
}

/// Rows that are values (rows/row.hpp): Rows, a list of Row, or a callable that returns one.
template <class R>
concept RowValues = std::same_as<std::remove_cvref_t<R>, Rows> || requires(R& rows, void (&f)(const Row&)) {
    f(rows[Index{}]);
} || requires(R& rows, void (&f)(const Row&)) { f(rows(Index{})); };

}  // namespace detail

}}  // namespace specsample

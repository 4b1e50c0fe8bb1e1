// Calls of models with a prefix, and the rows that a call may return.
//
//   ask(model, prefix, rest...)   calls a model with a span or a vector, whichever it takes
//   Answer<M, Rest...>            the type of the result
//   ReturnedRow                   a row that outlives the call
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/rows.hpp>
#include <specsample/core/types.hpp>

namespace specsample::inline SPECSAMPLE_ABI::detail {

/// The type of a model itself, also where it is given as std::ref.
template <class M>
using Unwrapped = std::remove_reference_t<std::unwrap_reference_t<std::remove_cvref_t<M>>>;

template <class M, class... Rest>
inline constexpr bool takes_span = std::invocable<Unwrapped<M>&, std::span<const Token>, Rest...>;
template <class M, class... Rest>
inline constexpr bool takes_vector = std::invocable<Unwrapped<M>&, const std::vector<Token>&, Rest...>;

/// Call a model with a span or a vector, whichever it takes.
template <class M, class... Rest>
    requires(takes_span<M, Rest...> || takes_vector<M, Rest...>)
decltype(auto) ask(M& model, const std::vector<Token>& prefix, Rest... rest) {
    Unwrapped<M>& callable = model;
    if constexpr (takes_span<M, Rest...>) {
        return std::invoke(callable, std::span<const Token>(prefix), rest...);
    } else {
        return std::invoke(callable, prefix, rest...);
    }
}

template <class M, class... Rest>
using Answer = decltype(ask(std::declval<std::remove_cvref_t<M>&>(), std::declval<const std::vector<Token>&>(),
                            std::declval<Rest>()...));

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

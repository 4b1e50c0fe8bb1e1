// How a model is called, and which rows it may return.
//
//   ask(model, prefix, rest...)   calls it in the form that it takes
//   Answer<M, Rest...>            what comes back
//   ReturnedRow                   a row that outlives the call
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/rows.hpp>
#include <specsample/core/types.hpp>

namespace specsample::detail {

/// std::ref models are looked at as what they refer to.
template <class M>
using Unwrapped = std::remove_reference_t<std::unwrap_reference_t<std::remove_cvref_t<M>>>;

template <class M, class... Rest>
inline constexpr bool takes_span = std::invocable<Unwrapped<M>&, std::span<const Token>, Rest...>;
template <class M, class... Rest>
inline constexpr bool takes_vector = std::invocable<Unwrapped<M>&, const std::vector<Token>&, Rest...>;

/// Call a model in the form it takes.
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

/// Does a row hold its numbers itself, so that they are gone with it?
template <class R>
inline constexpr bool owns = EigenOwner<R> || (ContiguousRow<R> && !is_span<R>);
template <StatedRow R>
inline constexpr bool owns<R> = !R::borrows;

/// Rows returned as R borrow memory: they must be copied to outlive the model's next call.
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

/// Several rows as one call returns them.
template <class R>
concept ReturnedRows = RowMajorRows<std::remove_cvref_t<R>> || IndexedRows<std::remove_cvref_t<R>>;

}  // namespace specsample::detail

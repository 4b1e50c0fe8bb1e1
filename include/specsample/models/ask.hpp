// Calls of models with a prefix.
//
//   ask(model, prefix, rest...)   calls a model with a span or a vector, whichever it takes
//   Answer<M, Rest...>            the type of the result
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

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

}  // namespace specsample::detail

// Calls of models with a prefix.
//
//   ask(model, prefix, rest...)   calls a model with a span or a vector, whichever it takes
//   Answer<M, Rest...>            the type of the result
//   LastAnswer<Answer>            keeps the result until the next call
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

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
    if constexpr (takes_span<M, Rest...>)
        return std::invoke(callable, std::span<const Token>(prefix), rest...);
    else
        return std::invoke(callable, prefix, rest...);
}

template <class M, class... Rest>
using Answer = decltype(ask(std::declval<std::remove_cvref_t<M>&>(), std::declval<const std::vector<Token>&>(),
                            std::declval<Rest>()...));

/// Keeps the last answer of a model while it is read: by value, or as a pointer if the model returned a reference.
template <class Answer>
class LastAnswer {
    static constexpr bool is_borrowed = std::is_lvalue_reference_v<Answer>;
    using R = std::remove_reference_t<Answer>;

  public:
    R& hold(Answer&& answer) {
        if constexpr (is_borrowed)
            return *(held_ = &answer);
        else
            return held_.emplace(std::forward<Answer>(answer));
    }
    R& operator*() { return *held_; }
    const R& operator*() const { return *held_; }

  private:
    std::conditional_t<is_borrowed, R*, std::optional<R>> held_{};
};

}}}  // namespace specsample::detail

// A predicate with which a caller ends a text.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include <specsample/core/borrowed.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// A predicate's answer about the last of the tokens that it is shown.
enum class StopDecision {
    go_on,    ///< the text does not end here
    include,  ///< the text ends with this token
    exclude   ///< the text ends before this token
};

namespace detail {

/// A callable of the tokens that returns a StopDecision or a bool. A number is refused, because it may mean anything.
template <class F>
concept Decides = std::is_invocable_v<F&, std::span<const Token>> &&
                  (std::is_invocable_r_v<StopDecision, F&, std::span<const Token>> ||
                   std::same_as<std::remove_cvref_t<std::invoke_result_t<F&, std::span<const Token>>>, bool>);

/// A predicate that ends texts: stop strings, a finished grammar. It is borrowed, never copied, so a lambda must have a
/// name.
///
///     auto until = [&](std::span<const Token> tokens) {
///         return ends(text, tokens) ? StopDecision::exclude : StopDecision::go_on;
///     };
///     RoundLimits limits{.until = until};
///
/// It may return a bool instead: true includes the token.
///
/// It is called with tokens that may follow the text in a round: with the first one, the first two, and so on, until it
/// ends the text. It is also called for a draft, so that nothing is drafted or judged past an end: once per node, after
/// the node's parent, with the tokens on the path to the node. Branches come in any order, and a repeated round asks
/// again. Its answer must depend on the text and these tokens alone.
class StopPredicate {
  public:
    StopPredicate() = default;

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, StopPredicate>)
    StopPredicate(F&& predicate) {
        using Predicate = std::remove_reference_t<F>;
        static_assert(Decides<Predicate>,
                      "specsample: `until` must be callable with the tokens, std::span<const specsample::Token>, and "
                      "return a specsample::StopDecision, or true to end the text with the last of them");
        static_assert(std::is_lvalue_reference_v<F> || !Decides<Predicate>,
                      "specsample: `until` is borrowed, and a temporary would be gone before it is called; give the "
                      "predicate a name that lives for as long as the limits");
        if constexpr (!std::is_function_v<Predicate> && requires { predicate == nullptr; })
            if (predicate == nullptr) return;
        if constexpr (Decides<Predicate>) {
            predicate_ = address_of_any(predicate);
            call_ = [](void* self, std::span<const Token> tokens) -> StopDecision {
                const auto answer = any_at<Predicate>(self)(tokens);
                if constexpr (std::same_as<decltype(answer), const bool>)
                    return answer ? StopDecision::include : StopDecision::go_on;
                else
                    return answer;
            };
        }
    }

    /// Return whether there is a predicate.
    explicit operator bool() const { return call_ != nullptr; }

    /// Ask the predicate; without one the text goes on.
    StopDecision operator()(std::span<const Token> tokens) const {
        return call_ == nullptr ? StopDecision::go_on : call_(predicate_, tokens);
    }

  private:
    void* predicate_ = nullptr;
    StopDecision (*call_)(void*, std::span<const Token>) = nullptr;
};

}  // namespace detail

}}  // namespace specsample

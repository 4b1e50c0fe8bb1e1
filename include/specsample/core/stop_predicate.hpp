// The predicate by which a caller ends a text.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>

#include <specsample/core/types.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

/// A predicate's answer about the last of the tokens that it is shown.
enum class StopDecision {
    go_on,    ///< the text does not end here
    include,  ///< the text ends with this token
    exclude   ///< the text ends before this token
};

namespace detail {

/// A predicate that ends texts: stop strings, a finished grammar. It is borrowed, never copied, so a lambda must have a
/// name.
///
///     auto until = [&](std::span<const Token> tokens) {
///         return ends(text, tokens) ? StopDecision::exclude : StopDecision::go_on;
///     };
///     RoundLimits limits{.until = until};
///
/// It is called with tokens that may follow the text in a round: with the first one, the first two, and so on, until it
/// ends the text. A draft is asked about as well, node by node, so that nothing is drafted or judged past an end: with
/// the tokens on the path to a node, once per node of a draft, after its parent, in any order of the branches; and
/// again if the round is repeated. Its answer must depend on the text and these tokens alone.
class StopPredicate {
  public:
    StopPredicate() = default;

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, StopPredicate> &&
                 std::is_invocable_r_v<StopDecision, F&, std::span<const Token>>)
    StopPredicate(F&& predicate)
        : predicate_(const_cast<char*>(&reinterpret_cast<const volatile char&>(predicate))),
          call_([](void* self, std::span<const Token> tokens) -> StopDecision {
              return std::invoke(*static_cast<std::remove_reference_t<F>*>(self), tokens);
          }) {
        static_assert(std::is_lvalue_reference_v<F>,
                      "specsample: `until` is borrowed, and a temporary would be gone before it is called; give the "
                      "predicate a name that lives for as long as the limits");
    }

    /// True if there is a predicate.
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

}  // inline namespace
}  // namespace specsample

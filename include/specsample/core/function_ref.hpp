// A callable, borrowed: what std::function_ref will be in C++26.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace specsample {

namespace detail {

template <class Signature>
class FunctionRef;

/// Refers to any callable of a signature without owning it and without a template parameter for its type, so that code
/// which takes one is compiled once for all of them.
/// @pre    the callable outlives every call
/// @cost   one indirect call
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
  public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
    FunctionRef(const F& function)
        : function_(std::addressof(function)), call_([](const void* called, Args... args) -> Result {
              return (*static_cast<const F*>(called))(std::forward<Args>(args)...);
          }) {}

    Result operator()(Args... args) const { return call_(function_, std::forward<Args>(args)...); }

  private:
    const void* function_;
    Result (*call_)(const void*, Args...);
};
}  // namespace detail

}  // namespace specsample

// A borrowed callable, as std::function_ref of C++26.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace specsample::inline SPECSAMPLE_ABI {

namespace detail {

template <class Signature>
class FunctionRef;

/// A reference to any callable of one signature. The callable's type is erased: code that takes a FunctionRef is
/// compiled once for all callables.
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

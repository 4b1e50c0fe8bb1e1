// What happens when a contract is broken: one message shape, one cold function that raises.
//
//   raise<Error>(...)    throws Error, or calls SPECSAMPLE_FAIL where exceptions are off
//   require(...)         std::invalid_argument "specsample::where: what is X, but must be Y"
//   to_text(x)           numbers as messages show them
#pragma once

#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <specsample/core/config.hpp>

namespace specsample::detail {

/// Raise `error`; never returns. Cold, so that the checks around it stay out of the hot path.
template <class Error>
[[noreturn, gnu::cold, gnu::noinline]] void raise(Error&& error) {
#if defined(__cpp_exceptions)
    throw std::forward<Error>(error);
#else
    SPECSAMPLE_FAIL(error.what());
#endif
}

inline std::string to_text(std::string_view text) { return std::string(text); }
inline std::string to_text(std::integral auto value) { return std::to_string(value); }
inline std::string to_text(std::floating_point auto value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", static_cast<double>(value));
    return buffer;
}

/// Raise std::invalid_argument "specsample::where: what is `is`, but must be `must`".
template <class Is>
[[noreturn, gnu::cold, gnu::noinline]] void invalid(std::string_view where, std::string_view what, const Is& is,
                                                    std::string_view must) {
    std::string message = "specsample::";
    message.append(where).append(": ").append(what).append(" is ").append(to_text(is));
    raise(std::invalid_argument(message.append(", but must be ").append(must)));
}

/// Check a contract that can be seen in O(1); `must` reads after "but must be".
template <class Is>
constexpr void require(bool holds, std::string_view where, std::string_view what, const Is& is, std::string_view must) {
    if (!holds) invalid(where, what, is, must);
}

}  // namespace specsample::detail

// Errors of a broken contract: one form of message, raised by one cold function.
//
//   raise<Error>(...)    throws Error, or calls SPECSAMPLE_FAIL where exceptions are off
//   require(...)         raises std::invalid_argument "specsample::where: what is X, but must be Y" unless it holds
//   to_text(x)           numbers as messages show them
#pragma once

#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <specsample/core/config.hpp>

namespace specsample::inline SPECSAMPLE_ABI::detail {

/// Raise `error`; never returns. It is cold, so that the code of failures stays out of the hot path.
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

/// Check an O(1) contract; `must` is the end of the sentence "..., but must be".
template <class Is>
constexpr void require(bool holds, std::string_view where, std::string_view what, const Is& is, std::string_view must) {
    if (!holds) invalid(where, what, is, must);
}

}  // namespace specsample::detail

// Errors of a broken contract: one form of message, raised by one cold function.
//
//   raise<Error>(...)    throws Error, or calls SPECSAMPLE_FAIL where exceptions are off
//   require(...)         raises std::invalid_argument "specsample::where: what is X, but must be Y" unless it holds
//   require_memory(...)  raises the same error for elements at null or at an unaligned address
//   require_length(...)  raises it for a number of drafted tokens above the bound, before memory is allocated for them
//   to_text(x)           the text of a number, as messages show it
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <specsample/core/config.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

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
[[gnu::cold]] inline std::string to_text(double value, const char* format = "%.6g") {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}
/// Print a whole number that is given as a double, because no one integral type holds all 64-bit ids, signed and
/// unsigned.
[[gnu::cold]] inline std::string whole_text(double value) { return to_text(value, "%.0f"); }

/// Return the message of a broken contract: "specsample::where: what is `is`, but must be `must`".
[[gnu::cold, gnu::noinline]] inline std::string refusal_text(std::string_view where, std::string_view what,
                                                             std::string_view is, std::string_view must) {
    std::string message = "specsample::";
    for (const std::string_view part :
         {where, std::string_view(": "), what, std::string_view(" is "), is, std::string_view(", but must be "), must})
        message.append(part);
    return message;
}
template <class Is>
[[gnu::cold]] std::string refusal(std::string_view where, std::string_view what, const Is& is, std::string_view must) {
    return refusal_text(where, what, to_text(is), must);
}

/// Raise std::invalid_argument with the message of refusal_text.
template <class Is>
[[noreturn, gnu::cold, gnu::noinline]] void invalid(std::string_view where, std::string_view what, const Is& is,
                                                    std::string_view must) {
    raise(std::invalid_argument(refusal(where, what, is, must)));
}

/// Check an O(1) contract; `must` is the end of the sentence "..., but must be".
template <class Is>
constexpr void require(bool holds, std::string_view where, std::string_view what, const Is& is, std::string_view must) {
    if (!holds) invalid(where, what, is, must);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_memory(std::string_view where, std::string_view what,
                                                                 bool is_null, std::size_t align, std::size_t count) {
    char is[64], must[64];
    std::snprintf(is, sizeof is, is_null ? "null" : "at an address that is no multiple of %zu", align);
    std::snprintf(must, sizeof must, "the address of %zu of its type", count);
    raise(std::invalid_argument(refusal_text(where, what, is, must)));
}

/// Check that the address of `count` elements is aligned and not null.
/// @edge   any address is valid for 0 elements
template <class T>
constexpr void require_memory(std::string_view where, std::string_view what, const T* data, std::size_t count) {
    if (count == 0) return;
    bool is_aligned = true;
    if (!std::is_constant_evaluated()) is_aligned = reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
    if (data == nullptr || !is_aligned) refuse_memory(where, what, data == nullptr, alignof(T), count);
}
/// Check the address of a list's elements.
template <class List>
constexpr void require_memory(std::string_view where, std::string_view what, const List& list) {
    require_memory(where, what, list.data(), list.size());
}

}  // namespace detail

/// The largest number of tokens in a draft, on a path or in a tree, and of alternatives for one position. The bound is
/// far above every useful length, and low enough that no length exhausts memory by itself.
inline constexpr Index most_drafted = Index{1} << 16;

namespace detail {

/// Check a number of drafted tokens.
/// @throws std::invalid_argument unless least <= length <= most_drafted
inline void require_length(std::string_view where, std::string_view what, Index length, Index least) {
    if (length < least) invalid(where, what, length, "at least " + to_text(least));
    if (length > most_drafted) invalid(where, what, length, "at most " + to_text(most_drafted));
}

}  // namespace detail

}}  // namespace specsample

// A borrowed list: a std::span that cannot be made of a temporary.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// A std::span<const T> for types that keep a borrowed list: limits, trees, draft distributions.
///
///     const std::vector<Token> stops{eos};
///     RoundLimits limits{.stop_tokens = stops};
///
/// A vector, an array or a named initializer_list is borrowed; a span is copied as a span. A temporary that owns its
/// elements does not compile, because its memory would be gone before the list is read.
///
/// @cost   O(1), no allocation
template <class T>
class ListRef : public std::span<const T> {
    using Span = std::span<const T>;

    template <class Given>
    static constexpr bool outlives_its_making =
        std::is_lvalue_reference_v<Given> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Given>>;

  public:
    constexpr ListRef() = default;

    /// @param list   contiguous elements of type T
    /// @throws       std::invalid_argument for elements at null
    template <class List>
        requires(!std::same_as<std::remove_cvref_t<List>, ListRef> &&
                 std::convertible_to<const std::remove_cvref_t<List>&, Span>)
    constexpr ListRef(List&& list) : Span(static_cast<const std::remove_cvref_t<List>&>(list)) {
        detail::require_memory("ListRef", "the address of a list", *this);
        static_assert(outlives_its_making<List>,
                      "specsample: this list is borrowed, and a temporary would be gone before it is read; give the "
                      "list a name that lives for as long as it is used");
    }

    /// Refuse elements in braces, because they are a temporary as well.
    template <std::same_as<T> U>
    constexpr ListRef(std::initializer_list<U>&& list) : Span(list.begin(), list.size()) {
        static_assert(!std::same_as<T, U>,
                      "specsample: this list is borrowed, and elements in braces would be gone before they are read; "
                      "give the list a name that lives for as long as it is used");
    }
};

namespace detail {

/// Return whether an id is in a list.
constexpr bool is_among(std::span<const Token> ids, std::integral auto id) {
    for (const Token one : ids)
        if (std::cmp_equal(one, id)) return true;
    return false;
}

}  // namespace detail

}}  // namespace specsample

// A ListRef may be gone before its elements, like a span.
/// @cond   a name of the standard library
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<specsample::ListRef<T>> = true;
/// @endcond

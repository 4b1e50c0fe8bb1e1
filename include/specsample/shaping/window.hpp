// The part of a context that penalties count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// The whole context, of any length, as Window::last_n.
inline constexpr Index whole_context = std::numeric_limits<Index>::max();

/// The last tokens of a context, without some at its beginning.
struct Window {
    Index last_n = whole_context;  ///< largest number of tokens; 0 counts none
    Index skip = 0;                ///< leading tokens that do not count, such as a prompt

    /// Check the settings.
    /// @throws std::invalid_argument for negative numbers
    void check() const {
        detail::require(last_n >= 0, "Window", "last_n", last_n, "at least 0");
        detail::require(skip >= 0, "Window", "skip", skip, "at least 0");
    }

    /// Return the tokens of a context that are in the window.
    std::span<const Token> of(std::span<const Token> context) const {
        const auto rest = context.subspan(static_cast<std::size_t>(std::min(skip, std::ssize(context))));
        return rest.last(static_cast<std::size_t>(std::min(last_n, std::ssize(rest))));
    }
};

}  // namespace filters

}}  // namespace specsample

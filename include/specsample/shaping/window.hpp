// The part of a context that penalties count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return a number of leading tokens, or the size of the prompt where it is whole_prompt.
inline Index leading(Index count, Index prompt_size) { return count < 0 ? prompt_size : count; }

}  // namespace detail

namespace filters {

/// The whole context, of any length, as Window::last_n.
inline constexpr Index whole_context = std::numeric_limits<Index>::max();

/// The prompt of the text, of whatever size, as Window::skip and wherever else a number of leading tokens is asked for.
/// Sampler tells its shaped models where each text begins, and an engine tells ShapedMemory::begin_text; where nobody
/// does, no token is of the prompt.
inline constexpr Index whole_prompt = -1;

/// The last tokens of a context, without some at its beginning.
struct Window {
    Index last_n = whole_context;  ///< largest number of tokens; 0 counts none
    Index skip = 0;                ///< leading tokens that do not count, or whole_prompt

    /// Check the settings.
    /// @throws std::invalid_argument for negative numbers but whole_prompt
    void check() const {
        detail::require(last_n >= 0, "Window", "last_n", last_n, "at least 0");
        detail::require(skip >= whole_prompt, "Window", "skip", skip, "at least 0, or whole_prompt");
    }

    /// Return the tokens of a context that are in the window.
    /// @param prompt_size   tokens of the context that are the prompt
    std::span<const Token> of(std::span<const Token> context, Index prompt_size = 0) const {
        const Index skipped = detail::leading(skip, prompt_size);
        const auto rest = context.subspan(static_cast<std::size_t>(std::min(skipped, std::ssize(context))));
        return rest.last(static_cast<std::size_t>(std::min(last_n, std::ssize(rest))));
    }
};

}  // namespace filters

}}  // namespace specsample

// How long a draft may be: lengths beyond that are refused by name, before anything is allocated for them.
#pragma once

#include <string>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

/// Most tokens of a draft, on a path or in a tree, and most tokens that are looked at beside each other. Far more than
/// pays, and little enough that no length can exhaust memory by itself.
inline constexpr Index most_drafted = Index{1} << 16;

namespace detail {

/// Check a number of drafted tokens.
/// @throws std::invalid_argument unless least <= length <= most_drafted
inline void require_length(std::string_view where, std::string_view what, Index length, Index least) {
    if (length < least) invalid(where, what, length, "at least " + to_text(least));
    if (length > most_drafted) invalid(where, what, length, "at most " + to_text(most_drafted));
}

}  // namespace detail
}  // namespace specsample

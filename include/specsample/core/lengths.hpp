// The upper bound of draft lengths. A larger length is refused by name, before any memory is allocated for it.
#pragma once

#include <string>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

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

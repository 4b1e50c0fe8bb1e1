// The bound of draft lengths. Larger ones are refused by name, before anything is allocated for them.
#pragma once

#include <string>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The largest number of tokens in a draft, on a path or in a tree, and of alternatives for one position. It is far
/// more than pays, and small enough that no length can exhaust memory by itself.
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

// The largest entries of a row, in order.
#pragma once

#include <span>

#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>

namespace specsample::inline SPECSAMPLE_ABI {

namespace kernels {

/// Write the ids of the top.size() largest positive entries to `top`, the largest first, the lowest id first on ties.
///
/// @returns   how many were written: fewer than asked for if the row has fewer positive entries
/// @cost      one pass, and an insertion into `top` for every entry that is among the largest so far; no allocation
template <Row R>
Index top_ids(const R& row, std::span<Token> top) {
    const auto view = detail::as_row(row);
    const auto value = [&](std::size_t place) { return static_cast<double>(view.coeff(top[place])); };
    std::size_t found = 0;
    for (Index i = 0; i < view.size(); ++i) {
        const double x = static_cast<double>(view.coeff(i));
        if (!detail::is_positive(x) || top.empty() || (found == top.size() && !(x > value(found - 1)))) continue;
        std::size_t place = found < top.size() ? found++ : found - 1;
        for (; place > 0 && value(place - 1) < x; --place) top[place] = top[place - 1];
        top[place] = static_cast<Token>(i);
    }
    return static_cast<Index>(found);
}
}  // namespace kernels

}  // namespace specsample

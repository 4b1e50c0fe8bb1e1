// The largest entries of a row, in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include <specsample/core/bits.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>
#include <specsample/kernels/places.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return a bound of the numbers of a block: the largest one.
template <class View>
double bound_of(const Blocks<View>& numbers, Index first, Index count, typename Blocks<View>::Buffer& buffer) {
    return static_cast<double>(block_max(count, numbers.read(first, count, buffer)));
}

/// Return a bound of the weights of a block. The largest logit has the largest weight, but for its last bits, so that
/// the logits of a block are turned into weights only where these may be among the largest.
template <class View, class Ids, class Plain>
double bound_of(const Blocks<Eigen::CwiseNullaryOp<Entries<View, Ids>, Plain>>& row, Index first, Index count,
                typename Blocks<View>::Buffer& buffer) {
    if (!row.encoding().is_logit()) return static_cast<double>(block_max(count, row.read(first, count, buffer)));
    const auto most = block_max(count, row.numbers().read(first, count, buffer));
    return 1.0001 * static_cast<double>(row.encoding().weight(most, 0));
}

/// Write the places of the largest numbers at [begin, end) to `places`, as the overload for a whole row does.
template <class View, class Place>
Index largest_places(const Blocks<View>& numbers, Index begin, Index end, std::span<Place> places, double least) {
    using Value = typename Blocks<View>::Value;
    typename Blocks<View>::Buffer buffer;
    std::size_t found = 0;
    const auto number = [&](std::size_t place) { return numbers[static_cast<Index>(places[place])]; };
    const auto enter = [&](Index at, double x) {
        if (!(x > least) || !is_finite(x)) return;
        std::size_t place = found < places.size() ? found++ : found - 1;
        for (; place > 0 && number(place - 1) < x; --place) places[place] = places[place - 1];
        places[place] = static_cast<Place>(at);
        if (found == places.size()) least = number(found - 1);
    };
    for (Index first = begin, next = 0; first < end && !places.empty(); first = next) {
        next = std::min(end, (first / block_size + 1) * block_size);
        if (bound_of(numbers, first, next - first, buffer) <= least) continue;  // a NaN is not the maximum
        const auto* block = numbers.read(first, next - first, buffer);
        Index i = 0;
        for (; i + places_at_once <= next - first; i += places_at_once) {
            // Rounding keeps the order, so that no number above `least` is below `bound`.
            const auto is_near = [bound = static_cast<Value>(least)](Value x) { return x >= bound; };
            for (std::uint64_t left = places_where(block + i, is_near); left != 0; left &= left - 1) {
                const Index at = i + lowest_bit(left);
                enter(first + at, static_cast<double>(block[at]));
            }
        }
        for (; i < next - first; ++i) enter(first + i, static_cast<double>(block[i]));
    }
    return static_cast<Index>(found);
}

/// Write the places of the largest numbers that are finite and above `least` to `places`, the largest first, the lowest
/// place first on ties.
/// @returns   how many there are, `places.size()` at most
/// @cost      one pass, which computes few powers of logits, and an insertion for every number that is among the
///            largest so far
template <class View, class Place>
Index largest_places(const Blocks<View>& numbers, std::span<Place> places,
                     double least = -std::numeric_limits<double>::infinity()) {
    if constexpr (Blocks<View>::is_split) {
        return numbers.share().largest_places(numbers, places, least);
    } else {
        return largest_places(numbers, 0, numbers.size(), places, least);
    }
}

}  // namespace detail

namespace kernels {

/// Write the ids of the top.size() largest positive entries to `top`, the largest first, the lowest id first on ties.
///
/// @returns   how many were written: fewer than asked for if the row has fewer positive entries
/// @cost      one pass, and an insertion into `top` for every entry that is among the largest so far; no allocation
template <RowLike R>
Index top_ids(const R& row, std::span<Token> top) {
    detail::require_memory("top_ids", "top", top);
    const auto view = detail::as_row(row);
    const detail::Blocks blocks(view);
    const Index found = detail::largest_places(blocks, top, 0);
    if (blocks.holds_every_id()) return found;
    std::size_t inside = 0;
    for (const Token place : top.first(static_cast<std::size_t>(found)))
        if (const Index id = blocks.id(place); id >= 0 && id < view.size()) top[inside++] = static_cast<Token>(id);
    return static_cast<Index>(inside);
}

}  // namespace kernels

}}  // namespace specsample

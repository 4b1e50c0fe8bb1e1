// The positions of the k largest values of a row: top-k.
//
// If the maxima of k tiles reach a bound, so do k entries. So with the k-th largest maximum as the bound few candidates
// are left, most of them in k tiles, and no order of the row makes them many. If k is a good part of the number of
// tiles, a sample gives the bound.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/select_cut.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The fewest groups of tiles: merging tiles into fewer is not worth its cost.
inline constexpr std::size_t least_groups = 256;

/// Return a value that at least k entries of the row reach, 1 <= k <= tiles.
///
/// The maxima of 4 k groups of tiles do nearly as well as the maxima of all tiles: about 1.15 k entries of a shuffled
/// row reach the k-th largest of them. Tiles `groups` apart form one group, so that whole arrays of maxima are merged.
template <std::floating_point Value>
Value reached_by(std::size_t k, const std::vector<Value>& maxima, std::vector<Value>& scratch) {
    const std::size_t groups = std::min(std::max(4 * k, least_groups), maxima.size());
    scratch.resize(std::max(scratch.size(), groups));
    std::copy_n(maxima.begin(), groups, scratch.begin());
    for (std::size_t first = groups; first < maxima.size(); first += groups) {
        const auto count = static_cast<Index>(std::min(groups, maxima.size() - first));
        Eigen::Map<Eigen::Array<Value, Eigen::Dynamic, 1>> group(scratch.data(), count);
        group = group.max(Column<Value>(maxima.data() + first, count));
    }
    const auto kth = scratch.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(scratch.begin(), kth, scratch.begin() + static_cast<std::ptrdiff_t>(groups), Descending{});
    return *kth;
}

/// The mass of a value in a count: 1.
inline constexpr auto count_of_one = [](auto) { return 1.; };

/// Return a value that k entries of the row are likely to reach: the number of entries that reach it in a sample is
/// four standard deviations above the expected number. -inf if the row is too short for a sample.
template <std::floating_point Value>
Value likely_reached_by(std::size_t k, std::span<const Value> row, kernels::SelectionScratch<Value>& scratch) {
    const std::span<Value> sample = sample_of(row, sample_stride, scratch.values);
    if (sample.empty()) return -std::numeric_limits<Value>::infinity();
    const double expected = static_cast<double>(k) / sample_stride;
    return cut_at(sample, expected + 4 * std::sqrt(expected), count_of_one, scratch.masses).least;
}

/// Return a value that `count` entries of the row reach, or are likely to reach; `above` if these are a large part of
/// the row.
template <std::floating_point Value>
Value bound_for(std::size_t count, std::span<const Value> row, Value above, kernels::SelectionScratch<Value>& scratch) {
    if (8 * count > row.size()) return above;
    if (count <= scratch.maxima.size()) return reached_by(count, scratch.maxima, scratch.values);
    return likely_reached_by(count, row, scratch);
}

/// Select as select_top does from a row whose values have been lowered, with the largest values of the tiles before
/// that in scratch.maxima.
///
/// All values that are not below a bound are among those that were not below it before. If they are fewer than k, as
/// the guess of the bound was wrong or many of them were lowered, a lower bound leaves four times as many.
/// @param row        the values before
/// @param lowered    maps an id to its value, at most that of the row
/// @param expected   how many of the k largest values are expected to be lowered below the bound
template <std::floating_point Value, class Lowered>
void select_lowered_top(std::span<const Value> row, const Lowered& lowered, std::size_t expected, Index k, Value above,
                        std::vector<Token>& kept, kernels::SelectionScratch<Value>& scratch) {
    kept.clear();
    if (k <= 0 || row.empty()) return;
    const auto wanted = static_cast<std::size_t>(std::min(k, static_cast<Index>(row.size())));
    std::span<Token> ids;
    for (std::size_t among = wanted + expected; ids.size() < wanted; among *= 4) {
        const Value bound = bound_for(among, row, above, scratch);
        const auto belongs = [=](Value x) { return (x > above) & (x >= bound); };  // without a branch
        ids = candidates(row, belongs, scratch);
        const auto left = std::remove_if(ids.begin(), ids.end(), [&](Token id) { return !belongs(lowered(id)); });
        ids = ids.first(static_cast<std::size_t>(left - ids.begin()));
        if (!(bound > above)) break;
    }
    if (ids.size() <= wanted) {
        kept.assign(ids.begin(), ids.end());
        return;
    }
    const std::span<Value> values = values_of<Value>(ids, lowered, scratch.values);
    keep(lowered, ids, cut_at(values, static_cast<double>(wanted), count_of_one, scratch.masses), kept);
}

}  // namespace detail

namespace kernels {

/// Set `kept` to the positions of the k largest values above `above`, ascending, the lowest positions first on ties; to
/// all positions with such values if there are fewer than k.
///
/// @param above   -inf for logits, 0 for probabilities
/// @cost          one pass, and a second one over about k tiles, at most over all; O(size) for any order of the row,
///                ten times the pass if all values are tied; no allocation once warm
template <std::floating_point Value>
void select_top(std::span<const Value> row, Index k, std::type_identity_t<Value> above, std::vector<Token>& kept,
                SelectionScratch<Value>& scratch) {
    detail::tile_maxima(row, scratch.maxima);
    detail::select_lowered_top(row, detail::value_in(row), 0, k, above, kept, scratch);
}

}  // namespace kernels

}}  // namespace specsample

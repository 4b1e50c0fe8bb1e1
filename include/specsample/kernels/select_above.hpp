// The positions of a row whose values reach a threshold: min-p, and the first step of top-k and top-p.
//
// A row is read once, for the largest value of every tile. Only tiles whose largest value belongs are looked at again,
// entry by entry, so that a threshold which few values pass costs little more than the reading. Positions come out
// ascending without a sort.
//
// A row with a NaN in it gives positions in bounds, each at most once; which ones is unspecified.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/bits.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/kernels/block.hpp>
#include <specsample/kernels/places.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Entries per tile. With 256, finding the largest value adds nothing to the reading of cold memory; with 64 it costs
/// half as much again.
inline constexpr Index tile_size = 256;

/// Entries per patch. The entries of a patch are looked at one by one, or not at all.
inline constexpr Index patch_size = places_at_once;

inline Index tile_count(Index size) { return (size + tile_size - 1) / tile_size; }

/// Return the largest of the first min(count, size) values, in a loop of fixed length if there are `size`.
template <int size, std::floating_point Value>
EIGEN_ALWAYS_INLINE Value largest_of_first(const Value* values, Index count) {
    return count < size ? Column<Value>(values, count).maxCoeff() : largest_of<size>(values);
}

/// Return the largest value of one tile.
template <std::floating_point Value>
Value tile_maximum(std::span<const Value> row, Index tile) {
    const Index first = tile * tile_size;
    return largest_of_first<tile_size>(row.data() + first, static_cast<Index>(row.size()) - first);
}

/// Find the largest values of two tiles, read in turn, and show `see` each patch of their numbers.
template <std::floating_point Value, class See>
EIGEN_ALWAYS_INLINE void scan_tiles(const Value* one, const Value* other, See& see, Value& of_one, Value& of_other) {
    using namespace Eigen::internal;
    using Packet = typename packet_traits<Value>::type;
    constexpr Index size = packet_traits<Value>::size;
    Packet most = pset1<Packet>(-std::numeric_limits<Value>::infinity()), more = most;
    const auto larger = [&](const Packet& than, const Value* patch) {
        see(patch);
        const auto load = [&](Index i) { return ploadu<Packet>(patch + i * size); };
        return pmax(than, fold<patch_size / size>(packet_max, load));
    };
    for (Index i = 0; i < tile_size; i += patch_size) {
        most = larger(most, one + i);
        more = larger(more, other + i);
    }
    of_one = predux_max(few_lanes(packet_max, most));
    of_other = predux_max(few_lanes(packet_max, more));
}

/// Find the largest value of every tile. A tile of each half is read in turn, because one stream does not take all that
/// memory gives.
/// @param see   see(patch) is called for all patches of whole tiles, in any order
template <std::floating_point Value, class See>
[[gnu::flatten]] void tile_maxima(std::span<const Value> row, std::vector<Value>& maxima, See& see) {
    const Index size = std::ssize(row), tiles = size / tile_size, half = tiles / 2;
    maxima.resize(static_cast<std::size_t>(tile_count(size)));
    See seen = see;  // a copy stays in registers
    const auto scan = [&](Index one, Index other) {
        scan_tiles(row.data() + one * tile_size, row.data() + other * tile_size, seen, maxima.data()[one],
                   maxima.data()[other]);
    };
    for (Index tile = 0; tile < half; ++tile) scan(tile, tile + half);
    if (tiles % 2 != 0) scan(tiles - 1, tiles - 1);
    if (size > tiles * tile_size) maxima.data()[tiles] = tile_maximum(row, tiles);
    see = seen;
}
template <std::floating_point Value>
void tile_maxima(std::span<const Value> row, std::vector<Value>& maxima) {
    struct Nothing {
        void operator()(const Value*) const {}
    } nothing;
    tile_maxima(row, maxima, nothing);
}

/// Write to `ids` the positions of [first, end) that belong.
/// @returns how many belong
template <std::floating_point Value, std::predicate<Value> Belongs>
Index collect_patch(const Value* values, Index first, Index end, const Belongs& belongs, Token* ids) {
    constexpr bool has_wide_registers = stripe_width > 16;  // without AVX the bits would be made one by one
    Index found = 0;
    if (has_wide_registers && end - first == patch_size) {
        for (std::uint64_t places = places_where(values + first, belongs); places != 0; places &= places - 1)
            ids[found++] = static_cast<Token>(first + lowest_bit(places));
        return found;
    }
    // Every position is written, and overwritten by the next one unless it belongs: a branch would often be
    // mispredicted in a patch where half of the values belong.
    for (Index i = first; i < end; ++i) {
        ids[found] = static_cast<Token>(i);
        found += belongs(values[i]) ? 1 : 0;
    }
    return found;
}

/// Write to the front of `ids` the positions of a row that belong, ascending; `ids` grows if it is too short.
///
/// @param maximum   maps a tile to its largest value
/// @param belongs   tells whether a value belongs; if it does, every larger value must, too
/// @returns         how many belong
template <std::floating_point Value, class Maximum, std::predicate<Value> Belongs>
Index collect(std::span<const Value> row, const Maximum& maximum, const Belongs& belongs, std::vector<Token>& ids) {
    const auto size = static_cast<Index>(row.size());
    Index found = 0;
    for (Index tile = 0; tile < tile_count(size); ++tile) {
        if (!belongs(maximum(tile))) continue;
        const auto room = static_cast<std::size_t>(found + tile_size);
        if (ids.size() < room) ids.resize(2 * room);
        const Index end = std::min((tile + 1) * tile_size, size);
        for (Index first = tile * tile_size; first < end; first += patch_size) {
            const Index count = std::min(patch_size, end - first);
            if (!belongs(largest_of_first<patch_size>(row.data() + first, count))) continue;
            found += collect_patch(row.data(), first, first + count, belongs, ids.data() + found);
        }
    }
    return found;
}

/// Set `kept` to the positions of a row that belong, ascending.
template <std::floating_point Value, class Maximum, std::predicate<Value> Belongs>
void select_if(std::span<const Value> row, const Maximum& maximum, const Belongs& belongs, std::vector<Token>& kept) {
    kept.resize(static_cast<std::size_t>(collect(row, maximum, belongs, kept)));
}
template <std::floating_point Value, std::predicate<Value> Belongs>
void select_if(std::span<const Value> row, const Belongs& belongs, std::vector<Token>& kept) {
    select_if(
        row, [&](Index tile) { return tile_maximum(row, tile); }, belongs, kept);
}

/// Select as select_at_least does, with the largest values of the row's tiles known.
template <std::floating_point Value>
void select_at_least_by_maxima(std::span<const Value> row, std::type_identity_t<Value> threshold,
                               const std::vector<Value>& maxima, std::vector<Token>& kept) {
    select_if(
        row, [&](Index tile) { return maxima.data()[tile]; }, [=](Value x) { return x >= threshold; }, kept);
}

}  // namespace detail

namespace kernels {

/// Set `kept` to the positions with values >= threshold, ascending.
///
/// @cost one pass, and a second one over the tiles that have such a value; no allocation once `kept` is large enough
template <std::floating_point Value>
void select_at_least(std::span<const Value> row, std::type_identity_t<Value> threshold, std::vector<Token>& kept) {
    detail::select_if(
        row, [=](Value x) { return x >= threshold; }, kept);
}

}  // namespace kernels

}}  // namespace specsample

// The cut at which the largest values of a row together weigh enough: the part that top-k, top-p and typical-p share.
//
// Top-k gives every value the weight 1 and wants k of them; top-p weighs every value by itself and wants a share of the
// total; typical-p orders tokens by another number than their weight. Only the last hundred values are sorted: the bits
// of a float, read as an integer, are in the order of the values, so a histogram over their leading bits tells the bin
// of the cut, and another one over the next bits tells the place in that bin.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/bits.hpp>
#include <specsample/kernels/select_above.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// Memory that selections reuse from row to row: they stop allocating once it has grown to the longest row.
template <std::floating_point Value>
struct SelectionScratch {
    std::vector<Value> maxima;   ///< the largest value of each tile
    std::vector<Token> ids;      ///< candidates, ascending
    std::vector<Value> values;   ///< the candidates' values, in any order
    std::vector<double> masses;  ///< the mass of each bin
};

}  // namespace kernels

namespace detail {

/// Return `x` as an unsigned integer in the order of the values; 0 and -0 give the same integer. A NaN has a place in
/// that order, too, because otherwise a sort may run out of bounds.
template <std::floating_point Value>
constexpr auto ordered_bits(Value x) {
    using Signed = std::conditional_t<sizeof(Value) == 4, std::int32_t, std::int64_t>;
    using Unsigned = std::make_unsigned_t<Signed>;
    constexpr Signed lowest = std::numeric_limits<Signed>::min();
    const auto bits = detail::bit_cast<Signed>(x);
    const Signed ordered = bits < 0 ? lowest - bits : bits;
    return static_cast<Unsigned>(ordered) ^ static_cast<Unsigned>(lowest);
}

/// The order from the largest value to the smallest.
struct Descending {
    template <std::floating_point Value>
    constexpr bool operator()(Value a, Value b) const {
        return ordered_bits(a) > ordered_bits(b);
    }
};

/// The key of a value in a cut: the value itself.
inline constexpr auto itself = [](auto x) { return x; };

/// Bits per histogram: of a float the sign, the exponent and three more. 4096 sums stay in the L1 cache.
inline constexpr int digit_bits = 12;

/// The largest number of values that are sorted rather than counted.
inline constexpr std::size_t sorted_at_once = 128;

/// The `width` bits of a value's ordered bits from bit `shift` on.
struct Digit {
    int shift;
    int width;

    template <std::floating_point Value>
    std::size_t operator()(Value x) const {
        return static_cast<std::size_t>(ordered_bits(x) >> shift) & ((std::size_t{1} << width) - 1);
    }
};

/// A bin of a histogram, and the mass of all bins above it.
struct Bin {
    std::size_t digit = 0;
    double above = 0;
};

/// Return the bin in which a running sum from the top, started at `above`, reaches the target. If it never does, return
/// the lowest bin with mass, so that a target that rounding has put out of reach takes everything.
inline Bin bin_of(const std::vector<double>& masses, double above, double target) {
    Bin bin{0, above};
    for (std::size_t digit = masses.size(); digit-- > 0;) {
        if (masses[digit] == 0) continue;
        bin = {digit, above};
        above += masses[digit];
        if (above >= target) break;
    }
    return bin;
}

/// Move the items of one bin to the front, and return them.
template <class Item, class Key>
std::span<Item> narrowed(std::span<Item> items, const Digit& digit, std::size_t bin, const Key& key) {
    std::size_t count = 0;
    for (const Item x : items) {
        items[count] = x;
        count += digit(key(x)) == bin ? 1u : 0u;
    }
    return items.first(count);
}

/// The end of a selection: it holds every value above `least`, and the first `ties` values equal to it.
template <std::floating_point Value>
struct Cut {
    Value least;
    Index ties;
};

/// Return the cut after the fewest items of largest keys that together weigh at least `target`; after all items if
/// their sum does not.
///
/// @param items   not empty; their order is destroyed
/// @param mass    maps an item to its mass >= 0
/// @param key     maps an item to the number that orders it
/// @cost          O(items): at most six histograms
template <class Item, class Mass, class Key = decltype(itself)>
auto cut_at(std::span<Item> items, double target, const Mass& mass, std::vector<double>& masses, const Key& key = {}) {
    using Value = decltype(key(items[0]));
    double above = 0;
    int shift = 8 * int{sizeof(Value)};
    const auto is_first = [&](const Item& x) { return key(x) == key(items[0]); };
    while (items.size() > sorted_at_once && shift > 0 && !std::ranges::all_of(items, is_first)) {
        const int width = std::min(digit_bits, shift);
        const Digit digit{shift -= width, width};
        masses.assign(std::size_t{1} << width, 0);
        for (const Item& x : items) masses[digit(key(x))] += mass(x);
        const Bin bin = bin_of(masses, above, target);
        above = bin.above;
        items = narrowed(items, digit, bin.digit, key);
    }
    if (items.size() <= sorted_at_once) std::ranges::sort(items, Descending{}, key);  // else all are equal
    std::size_t needed = 0;
    do above += mass(items[needed++]);
    while (needed < items.size() && above < target);
    const Value least = key(items[needed - 1]);
    return Cut<Value>{least, static_cast<Index>(std::ranges::count(items.first(needed), least, key))};
}

/// Find the positions of a row that belong, by the maxima of its tiles in `scratch`.
template <std::floating_point Value, std::predicate<Value> Belongs>
std::span<Token> candidates(std::span<const Value> row, const Belongs& belongs,
                            kernels::SelectionScratch<Value>& scratch) {
    const auto maximum = [&](Index tile) { return scratch.maxima.data()[tile]; };
    const Index found = collect(row, maximum, belongs, scratch.ids);
    return {scratch.ids.data(), static_cast<std::size_t>(found)};
}

/// Copy the candidates' values, so that cut_at may reorder them.
/// @param value_of   maps an id to its value
template <std::floating_point Value, class ValueOf>
std::span<Value> values_of(std::span<const Token> ids, const ValueOf& value_of, std::vector<Value>& values) {
    if (values.size() < ids.size()) values.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) values[i] = value_of(ids[i]);
    return {values.data(), ids.size()};
}

/// Return what maps an id to its value in a row.
template <std::floating_point Value>
auto value_in(std::span<const Value> row) {
    return [row](Token id) { return row.data()[id]; };
}

/// The distance of a sample's values in the row: not a power of two, which a row's layout may be aligned to.
inline constexpr std::size_t sample_stride = 17;

/// The fewest values in a sample, and about as many as tell the mass of a part well enough.
inline constexpr std::size_t least_sample = 256, enough_sample = 2048;

/// Return the distance of the values in a sample that is to tell the mass of a part.
inline std::size_t mass_stride(std::size_t size) { return std::max(sample_stride, size / enough_sample | 1); }

/// Take a sample of a row, into `values`; empty if the row is too short. Guesses from a sample are checked: a
/// misleading row only costs time.
template <std::floating_point Value>
std::span<Value> sample_of(std::span<const Value> row, std::size_t stride, std::vector<Value>& values) {
    const std::size_t count = row.size() / stride;
    if (count < least_sample) return {};
    if (values.size() < count) values.resize(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = row[i * stride];
    return {values.data(), count};
}

/// Set `kept` to the candidates inside the cut. `ids` is overwritten.
template <std::floating_point Value, class ValueOf>
void keep(const ValueOf& value_of, std::span<Token> ids, Cut<Value> cut, std::vector<Token>& kept) {
    std::size_t count = 0;
    for (const Token id : ids) {
        const Value x = value_of(id);
        ids[count] = id;
        count += x > cut.least ? 1 : 0;
        if (x == cut.least && cut.ties > 0) {
            ids[count++] = id;
            --cut.ties;
        }
    }
    kept.assign(ids.data(), ids.data() + count);
}

}  // namespace detail

}}  // namespace specsample

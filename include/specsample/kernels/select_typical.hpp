// The positions of the most typical part of a distribution: the tokens whose surprisal is closest to the entropy.
//
// Meister et al.: "Locally typical sampling", TACL 2023 (arXiv:2202.00666), section 4.
//
// The logits of a row, or the logarithms of its weights, are its levels. Surprisals are levels turned round and moved,
// and so is their mean, the entropy: the typical tokens are those whose level is closest to the weighted mean of all
// levels. So logits need no logarithm.
//
// A sample gives a guess at how far from the mean the typical part reaches. If the tokens within it weigh enough, the
// typical part is among them, however good the guess was.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <vector>

#include <specsample/kernels/excess.hpp>
#include <specsample/kernels/logarithm.hpp>
#include <specsample/kernels/select_cut.hpp>
#include <specsample/kernels/wide_sum.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// Memory that select_typical reuses from row to row.
template <std::floating_point Value>
struct TypicalScratch {
    /// A token in the order of typicality.
    struct Item {
        Value closeness;  ///< the distance of its level from the mean, negated: larger is more typical
        Value mass;
    };
    std::vector<Value> levels;   ///< ln p of each token
    std::vector<Token> ids;      ///< candidates, ascending
    std::vector<Item> items;     ///< the candidates, in any order
    std::vector<double> masses;  ///< the mass of each bin
};

}  // namespace kernels

namespace detail {

/// A row whose typical part is wanted.
template <std::floating_point Value>
struct Levels {
    std::span<const Value> values;   ///< logits, or ln p
    std::span<const Value> weights;  ///< >= 0
    double mean;                     ///< of the values, by weight

    /// Return how typical the token at a place is.
    Value closeness(Token place) const {
        return static_cast<Value>(-std::abs(static_cast<double>(values.data()[place]) - mean));
    }
};

/// Return the mean of levels by weight; 0 if it is no number. The level of a weight of 0 may be -inf.
template <std::floating_point Value>
double mean_level(std::span<const Value> levels, std::span<const Value> weights, double total) {
    const auto term = [](const auto& level, const auto& weight) {
        const auto product = level.max(double{std::numeric_limits<Value>::lowest()}) * weight;
        return product.unaryExpr(Scaled<double>(1)).eval();
    };
    double sum = 0;
    for_blocks(0, std::ssize(levels), [&](Index first, Index count) {
        sum += block_sum<double>(count, term, AsDoubles<Value>{levels.data() + first},
                                 AsDoubles<Value>{weights.data() + first});
    });
    const double mean = sum / total;
    return is_finite(mean) ? mean : 0;
}

/// Make an item of every place.
template <std::floating_point Value>
auto items_of(const Levels<Value>& row, Index count, const auto& place, kernels::TypicalScratch<Value>& scratch) {
    if (std::ssize(scratch.items) < count) scratch.items.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) scratch.items.data()[i] = {row.closeness(place(i)), row.weights.data()[place(i)]};
    return std::span(scratch.items).first(static_cast<std::size_t>(count));
}

/// Return the cut after the most typical items that together weigh at least `target`.
template <class Item>
auto typical_cut(std::span<Item> items, double target, std::vector<double>& masses) {
    return cut_at(
        items, target, [](const Item& x) { return static_cast<double>(x.mass); }, masses,
        [](const Item& x) { return x.closeness; });
}

/// Guess the closeness of the least typical token that is kept, more often too low than too high; -inf if the row is
/// too short for a sample. The guess is made from what the typical part leaves out, as that of a nucleus is.
template <std::floating_point Value>
Value sampled_closeness(const Levels<Value>& row, double fraction, double left_out,
                        kernels::TypicalScratch<Value>& scratch) {
    const Index size = std::ssize(row.values);
    const auto stride = static_cast<Index>(mass_stride(row.values.size()));
    const Index count = size / stride;
    if (count < Index{least_sample}) return -std::numeric_limits<Value>::infinity();
    const auto items = items_of(
        row, count, [=](Index i) { return static_cast<Token>(i * stride); }, scratch);
    double mass = 0;
    for (const auto& item : items) mass += static_cast<double>(item.mass);
    const double share = static_cast<double>(count) / static_cast<double>(size);
    return typical_cut(items, std::max(mass - .9 * share * left_out, fraction * mass), scratch.masses).least;
}

/// Set `kept` to the typical part if all of it lies within a distance of the mean.
/// @returns   whether it does
template <std::floating_point Value>
bool select_typical_within(const Levels<Value>& row, double distance, double target, std::vector<Token>& kept,
                           kernels::TypicalScratch<Value>& scratch) {
    const auto low = static_cast<Value>(row.mean - distance), high = static_cast<Value>(row.mean + distance);
    const Index size = std::ssize(row.values);
    Index found = 0;
    for (Index first = 0; first < size; first += patch_size) {
        const auto room = static_cast<std::size_t>(found + patch_size);
        if (scratch.ids.size() < room) scratch.ids.resize(2 * room);
        const Index end = std::min(first + patch_size, size);
        const auto is_near = [=](Value level) { return (level >= low) & (level <= high); };  // without a branch
        found += collect_patch(row.values.data(), first, end, is_near, scratch.ids.data() + found);
    }
    std::span<Token> ids = std::span(scratch.ids).first(static_cast<std::size_t>(found));
    const auto without = std::ranges::remove_if(ids, [&](Token id) { return !(row.weights.data()[id] > 0); });
    ids = {ids.begin(), without.begin()};
    if (ids.empty()) return false;
    const auto items = items_of(
        row, std::ssize(ids), [&](Index i) { return ids[static_cast<std::size_t>(i)]; }, scratch);
    double mass = 0;
    for (const auto& item : items) mass += static_cast<double>(item.mass);
    const auto cut = typical_cut(items, target, scratch.masses);
    // The bounds are rounded, so that one side may reach less far than the other.
    const auto reach = std::min(row.mean - static_cast<double>(low), static_cast<double>(high) - row.mean);
    if (!is_infinity(distance) && !(mass >= target && -static_cast<double>(cut.least) < reach)) return false;
    keep([&](Token id) { return row.closeness(id); }, ids, cut, kept);
    return true;
}

/// Select as kernels::select_typical does, by levels and weights.
/// @param total   the sum of the weights
template <std::floating_point Value>
void select_typical_levels(std::span<const Value> levels, std::span<const Value> weights, double total, double fraction,
                           std::vector<Token>& kept, kernels::TypicalScratch<Value>& scratch) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Levels<Value> row{levels, weights, mean_level(levels, weights, total)};
    const double target = fraction < 1 ? fraction * total : infinity;
    kept.clear();
    if (fraction < 1) {
        double distance = -1.001 * static_cast<double>(sampled_closeness(row, fraction, total - target, scratch));
        for (int tries = 0; tries < 4 && is_finite(distance); ++tries, distance *= 2)
            if (select_typical_within(row, distance, target, kept, scratch)) return;
    }
    select_typical_within(row, infinity, target, kept, scratch);
}

}  // namespace detail

namespace kernels {

/// Set `kept` to the positions, ascending, of the fewest most typical tokens whose probabilities sum to at least
/// `fraction`. A token is the more typical the closer its -ln p is to the entropy, above or below; on ties the lower id
/// comes first.
///
/// Implementations differ on ties: Hugging Face's filter keeps all tokens as close as the last one; llama.cpp's leaves
/// the choice to an unstable sort, and goes on until the mass is above the fraction.
///
/// @pre        probabilities sum to 1
/// @cost       a pass with a logarithm, one for the entropy, one that collects candidates, and four over the
///             candidates; no allocation once warm
/// @edge       all tokens of positive probability if fraction >= 1, or if their sum does not reach it
/// @accuracy   logarithms and distances are rounded to Value, and equal ones are ties; sums are in double
template <std::floating_point Value>
void select_typical(std::span<const Value> probs, double fraction, std::vector<Token>& kept,
                    TypicalScratch<Value>& scratch) {
    if (scratch.levels.size() < probs.size()) scratch.levels.resize(probs.size());
    detail::take_logarithms(probs.data(), std::ssize(probs), scratch.levels.data());
    const std::span<const Value> levels = std::span(scratch.levels).first(probs.size());
    detail::select_typical_levels(levels, probs, 1, fraction, kept, scratch);
}

}  // namespace kernels

}}  // namespace specsample

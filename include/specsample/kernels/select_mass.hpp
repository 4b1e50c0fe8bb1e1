// The positions of the fewest largest weights that sum to a share of the total: the nucleus of top-p.
//
// Holtzman et al.: "The curious case of neural text degeneration", ICLR 2020 (arXiv:1904.09751), section 3.1.
//
// A guess at the smallest weight of the nucleus leaves candidates. If they weigh enough, the nucleus is among them,
// however good the guess was. For a peaked row the guess is a thousandth of the largest weight, for a flat one the
// smallest weight in the nucleus of a sample.
#pragma once

#include <specsample/kernels/select_cut.hpp>
#include <specsample/kernels/wide_sum.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The mass of a value in a nucleus: the value itself.
inline constexpr auto own_mass = [](auto x) { return static_cast<double>(x); };

/// Guess the smallest weight of the nucleus, more often too low than too high; 0 if the row is too short for a sample.
///
/// The guess is made from the light weights that the nucleus leaves out: a sample holds many of them, while its share
/// of the few heavy ones varies widely.
template <std::floating_point Value>
Value sampled_cut(std::span<const Value> row, double left_out, kernels::SelectionScratch<Value>& scratch) {
    const std::span<Value> sample = sample_of(row, mass_stride(row.size()), scratch.values);
    if (sample.empty()) return 0;
    const double share = static_cast<double>(sample.size()) / static_cast<double>(row.size());
    const double target = wide_sum(sample.data(), std::ssize(sample)) - .9 * share * left_out;
    return cut_at(sample, target, own_mass, scratch.masses).least;
}

/// Set `kept` to the nucleus if all of it belongs.
/// @returns whether all of it belongs: whether the values that belong weigh enough
template <std::floating_point Value, std::predicate<Value> Belongs>
bool select_mass_if(std::span<const Value> row, const Belongs& belongs, double target, std::vector<Token>& kept,
                    kernels::SelectionScratch<Value>& scratch) {
    const std::span<Token> ids = candidates(row, belongs, scratch);
    const std::span<Value> values = values_of<Value>(ids, value_in(row), scratch.values);
    if (ids.empty() || !(wide_sum(values.data(), std::ssize(values)) >= target)) return false;
    keep(value_in(row), ids, cut_at(values, target, own_mass, scratch.masses), kept);
    return true;
}

/// Return whether at least half of the tiles have no weight that reaches the cut.
template <std::floating_point Value>
bool leaves_half(const std::vector<Value>& maxima, Value cut) {
    const auto left = std::ranges::count_if(maxima, [=](Value x) { return x >= cut; });
    return 2 * left <= std::ssize(maxima);
}

/// Select as select_mass does, with the largest values of the row's tiles already in scratch.maxima.
template <std::floating_point Value>
void select_mass_by_maxima(std::span<const Value> row, double total, double fraction, std::vector<Token>& kept,
                           kernels::SelectionScratch<Value>& scratch) {
    const auto positive = [](Value x) { return x > 0; };
    if (!(fraction < 1) || row.empty()) return select_if(row, positive, kept);
    const double target = fraction * total;
    const auto found_in = [&](const auto& belongs) { return select_mass_if(row, belongs, target, kept, scratch); };
    const Value high = block_max(std::ssize(scratch.maxima), scratch.maxima.data()) / 1024;
    if (high > 0 && leaves_half(scratch.maxima, high) && found_in([=](Value x) { return x >= high; })) return;
    const Value low = sampled_cut(row, total - target, scratch);
    if (low > 0 && found_in([=](Value x) { return x >= low; })) return;
    if (!found_in(positive)) select_if(row, positive, kept);
}

}  // namespace detail

namespace kernels {

/// Set `kept` to the nucleus: the positions, ascending, of the fewest largest weights whose sum reaches fraction *
/// total, including the weight that reaches it, the lowest position first on ties.
///
/// @param total   the sum of all weights, which need not be 1
/// @pre           weights are >= 0
/// @cost          little more than one pass for a peaked row; a second pass, entry by entry, and four over the nucleus
///                for a flat one; O(size) always, no allocation once warm
/// @edge          at least one position if a weight is positive, never one of weight 0; all positive weights if
///                fraction >= 1, or if their sum does not reach the target
/// @accuracy      sums are in double, weights of equal leading bits first: such sums are exact for float weights. If
///                all sums are exact, a full sort gives the same set. Otherwise the two sets may differ only if the
///                target is within size * 2^-53 of the sum of some of the largest weights, relative to the total; only
///                then may the full sort differ from the exact set, too
template <std::floating_point Value>
void select_mass(std::span<const Value> row, double total, double fraction, std::vector<Token>& kept,
                 SelectionScratch<Value>& scratch) {
    detail::tile_maxima(row, scratch.maxima);
    detail::select_mass_by_maxima(row, total, fraction, kept, scratch);
}

}  // namespace kernels

}}  // namespace specsample

// The fit of one draft row to one target row, as the two numbers from which every other rate is computed.
//
//   acceptance(draft, target)        the probability that one drafted token is accepted
//   total_variation(draft, target)   the distance of the two distributions
#pragma once

#include <algorithm>

#include <specsample/core/row.hpp>
#include <specsample/kernels/overlap.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace theory {

/// Compute the probability that a token drawn from `draft` is accepted against `target`.
///
///     alpha = sum min(p, q) = 1 - TV(p, q);      p = target, q = draft
///
/// The mean of alpha over the evaluated positions of a text estimates the same acceptance as counting does, without the
/// noise of the random draws.
///
/// @param draft, target   probabilities of the same size, each row sums to 1: the processed distributions (after
///                        temperature, truncation, penalties) that tokens are really drawn from
/// @returns               in [0, 1]: rounding of the rows may exceed 1, and the excess is cut off
/// @throws                std::invalid_argument if the sizes differ (from `overlap`)
/// @cost                  one pass over both rows, or over the entries of a sparse one; no allocation
/// @edge                  equal rows: 1 up to rounding; disjoint supports: 0
/// @source                Leviathan et al. 2023, arXiv:2211.17192, Definition 3.1 and Theorem 3.5
template <Row Draft, Row Target>
[[nodiscard]] double acceptance(const Draft& draft, const Target& target) {
    return std::min(kernels::overlap(draft, target), 1.0);
}

/// Compute the total variation distance of two rows: the largest difference between their probabilities of any event.
///
///     TV = 1 - sum min(p, q) = (1/2) sum |p - q|
///
/// @param draft, target   as in `acceptance`
/// @returns               in [0, 1]
/// @throws                std::invalid_argument if the sizes differ
/// @cost                  one pass over both rows, or over the entries of a sparse one; no allocation
/// @source                arXiv:2211.17192, Lemma 3.3 (there D_LK)
template <Row Draft, Row Target>
[[nodiscard]] double total_variation(const Draft& draft, const Target& target) {
    return 1.0 - acceptance(draft, target);
}

}  // namespace theory

}}  // namespace specsample

// The fit of one draft row to one target row, in the two numbers that every other rate is built from.
//
//   acceptance(draft, target)        the probability that one drafted token is accepted
//   total_variation(draft, target)   the distance of the two distributions
#pragma once

#include <algorithm>

#include <specsample/core/row.hpp>
#include <specsample/kernels/overlap.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace theory {

/// The probability that a token drawn from `draft` is accepted against `target`.
///
///     alpha = sum min(p, q) = 1 - TV(p, q);      p = target, q = draft
///
/// Its mean over the evaluated positions of a text estimates the same acceptance as counting does, without the noise of
/// the random draws.
///
/// @param draft, target   probabilities of the same size, each row sums to 1: the processed distributions (after
///                        temperature, truncation, penalties) that tokens are really drawn from
/// @returns               in [0, 1]: an excess over 1 by the rounding of the rows is cut off
/// @throws                std::invalid_argument if the sizes differ (from `overlap`)
/// @cost                  one pass over both rows, no allocation
/// @edge                  equal rows: 1 up to rounding; disjoint supports: 0
/// @source                Leviathan et al. 2023, arXiv:2211.17192, Definition 3.1 and Theorem 3.5
template <Row Draft, Row Target>
[[nodiscard]] double acceptance(const Draft& draft, const Target& target) {
    return std::min(kernels::overlap(draft, target), 1.0);
}

/// The total variation distance of two rows: the largest difference between the probabilities that they give an event.
///
///     TV = 1 - sum min(p, q) = (1/2) sum |p - q|
///
/// @param draft, target   as in `acceptance`
/// @returns               in [0, 1]
/// @throws                std::invalid_argument if the sizes differ
/// @cost                  one pass over both rows, no allocation
/// @source                arXiv:2211.17192, Lemma 3.3 (there D_LK)
template <Row Draft, Row Target>
[[nodiscard]] double total_variation(const Draft& draft, const Target& target) {
    return 1.0 - acceptance(draft, target);
}

}  // namespace theory

}}  // namespace specsample

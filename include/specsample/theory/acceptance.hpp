// How well one draft row fits one target row: the two numbers that every other rate is built from.
//
//   acceptance(draft, target)        probability that one drafted token is accepted
//   total_variation(draft, target)   how far apart the two distributions are
#pragma once

#include <algorithm>

#include <specsample/core/row.hpp>
#include <specsample/kernels/overlap.hpp>

namespace specsample {

namespace theory {

/// Probability that a token drawn from `draft` is accepted against `target`.
///
///     alpha = sum min(p, q) = 1 - TV(p, q);      p = target, q = draft
///
/// Its mean over the evaluated positions of a text estimates the same acceptance as counting does, without the
/// noise of the random draws.
///
/// @param draft, target  probabilities of the same size, each row sums to 1; the processed distributions (after
/// temperature,
///                       truncation, penalties), those from which tokens are really drawn
/// @returns              in [0, 1]: what rounding of the rows adds above 1 is cut off
/// @throws               std::invalid_argument if the sizes differ (from `overlap`)
/// @cost                 one pass over both rows, no allocation
/// @edge                 equal rows: 1 up to rounding; disjoint supports: 0
/// @source               Leviathan et al. 2023, arXiv:2211.17192, Definition 3.1 and Theorem 3.5
template <Row Draft, Row Target>
[[nodiscard]] double acceptance(const Draft& draft, const Target& target) {
    return std::min(kernels::overlap(draft, target), 1.0);
}

/// Total variation distance of two rows: the largest difference in probability that any event can show.
///
///     TV = 1 - sum min(p, q) = (1/2) sum |p - q|
///
/// @returns  in [0, 1]; parameters, errors and cost as in `acceptance`
/// @source   arXiv:2211.17192, Lemma 3.3 (there D_LK)
template <Row Draft, Row Target>
[[nodiscard]] double total_variation(const Draft& draft, const Target& target) {
    return 1.0 - acceptance(draft, target);
}
}  // namespace theory

}  // namespace specsample

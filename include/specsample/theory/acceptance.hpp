// The fit of a draft to its target: the acceptance of one token, from which every other rate is computed, and a bound
// on the tokens of one round, for every lossless rule.
//
//   acceptance(draft, target)           the probability that one drafted token is accepted
//   total_variation(draft, target)      the distance of the two distributions
//   one_round_bound_of_path(ratios)     the contribution of one drafted path; its mean over drafts is the bound
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>
#include <specsample/kernels/overlap.hpp>
#include <specsample/rows/returned.hpp>

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
template <detail::AnyRow Draft, detail::AnyRow Target>
[[nodiscard]] double acceptance(const Draft& draft, const Target& target) {
    return detail::with_rows(draft, target,
                             [](const auto& q, const auto& p) { return std::min(kernels::overlap(q, p), 1.0); });
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
template <detail::AnyRow Draft, detail::AnyRow Target>
[[nodiscard]] double total_variation(const Draft& draft, const Target& target) {
    return 1.0 - acceptance(draft, target);
}

/// Compute the contribution of one drafted chain x_1 .. x_K to the one-round bound.
///
///     1 + sum_i min(1, r_1 .. r_i),      r_i = p_i(x_i) / q_i(x_i)
///
/// Its mean over chains drawn from the draft is
///
///     1 + sum_i (1 - TV of the distributions of the first i tokens)
///
/// and no lossless rule that sees one round only can expect more tokens: the first i tokens of the text agree with the
/// first i drafted ones with probability 1 - TV at most. Block verification comes near the bound, token verification
/// less so; with one drafted token all three are the same.
///
/// @param ratios   the target over the draft probability of each drafted token, in the order of tokens. Give all K
///                 ratios, also of tokens after a rejection, because a mean over evaluated tokens only is too low
/// @returns        in [1, K + 1]
/// @throws         std::invalid_argument for a ratio that is negative or not finite
/// @cost           a logarithm and an exponential per token
/// @edge           no ratio: 1; a ratio of 0 and all ratios after it add nothing; products of large ratios do not
///                 overflow
/// @source         Sun et al. 2025, arXiv:2403.10444 (there with full information); algebra: E_q[min(1, p/q)] = 1 - TV
[[nodiscard]] inline double one_round_bound_of_path(std::span<const double> ratios) {
    double tokens = 1, log_product = 0;
    for (const double ratio : ratios) {
        detail::require(detail::is_finite(ratio) && ratio >= 0, "one_round_bound_of_path", "a ratio", ratio,
                        "a finite number >= 0");
        log_product += std::log(ratio);
        tokens += std::exp(std::min(0.0, log_product));
    }
    return tokens;
}

}  // namespace theory

}}  // namespace specsample

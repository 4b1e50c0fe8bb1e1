// Gumbel match: drafter and target race with the same noise, so that they often agree without knowing each other's row.
//
// Daliri, Musco, Suresh: "Coupling without communication and drafter-invariant speculative decoding", 2024
// (arXiv:2408.07978), Theorem 2. The use on trees, with several winners per node, was not found in the literature.
#pragma once

#include <specsample/rows/logits.hpp>
#include <specsample/verify/match.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Draws the target's token by a race whose noise the drafter shares, and accepts a drafted token that is the same.
///
///     E_t(i)  exponential, a function of (seed, request, t, i),  t the absolute position
///     drafted  argmin_i E_t(i) / q(i)  (in a tree: the first n),     target  argmin_i E_t(i) / p(i)
///
/// A token is accepted with probability sum_i 1 / sum_j max(p_j / p_i, q_j / q_i), at least (1 - TV) / (1 + TV). Under
/// this rule `Sampler` draws its drafts with the target's noise.
///
/// @draws    one race per position reached: a number per block of 64 ids, and one per id that may win
/// @cost     one pass over a row per position reached, with a random number per 64 ids; logits are not normalised
/// @source   Daliri, Musco, Suresh (arXiv:2408.07978), Theorem 2
struct GumbelMatch {
    static constexpr bool lossless = true;
    static constexpr bool drafter_invariant = true;
    static constexpr auto decision = walks::Decision::race;
    static constexpr bool shares_noise = true;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto& rng) {
            const Index token = race(rng, node.row());
            if (token < 0) node.blame_row();
            return token;
        });
    }
};

}}  // namespace specsample

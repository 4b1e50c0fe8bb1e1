// Draws a drafted token and returns it with its draft distribution: the step of an engine's own drafting loop.
//
//     std::vector<Token> tokens;
//     std::vector<SampledFrom<DraftRow>> distributions;     // DraftRow: the type that logits(i) returns
//     for (Index i = 0; i < lookahead; ++i) {
//         const auto [token, distribution] = draft_token(rng.at(Purpose::draft, i), logits(i));
//         tokens.push_back(token);
//         distributions.push_back(distribution);
//     }
//     const Round round = verify(tokens, distributions, target_rows, rule, rng, limits, workspace);
//
// The draw sums a row of logits, and the distribution keeps that normaliser for verification. Sampled(row) of the same
// logits computes it a second time: one more pass per drafted token.
#pragma once

#include <specsample/random/draw.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

namespace detail {

/// A drafted token and its draft distribution.
template <class R>
struct DraftedToken {
    Token token = -1;
    SampledFrom<R> distribution;
};

}  // namespace detail

/// Draw a token from a row, and return it with the row as its distribution, normaliser included.
///
/// @param rng   the random numbers of one address: rng.at(Purpose::draft, node), where `node` is the place of the token
///              in the draft
/// @param row   probabilities, Logits, or a sparse row of either; borrowed until the round ends, so a temporary that
///              owns its numbers does not compile
/// @returns     the token, and a distribution that verify takes. If nothing can be drawn (the sum is not positive or
///              not finite), the token is -1, which verify answers with a fault
/// @draws       one uniform
/// @cost        one pass; no allocation
template <class Rng, Row R>
detail::DraftedToken<R> draft_token(const Rng& rng, const R& row) {
    const auto weights = kernels::row_weights(row);
    const kernels::Drawn drawn = draw(rng, weights);
    return {static_cast<Token>(drawn.index), detail::drawn_from(kernels::probs_of(row, weights), drawn.sum)};
}
template <class Rng, Row R>
    requires detail::owns<R>
detail::DraftedToken<R> draft_token(const Rng& rng, const R&& row) = delete;

}  // inline namespace
}  // namespace specsample

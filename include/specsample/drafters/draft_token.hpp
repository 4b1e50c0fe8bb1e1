// A drafted token with the distribution it was drawn from, in one call: what an engine's own drafting loop does.
//
//     std::vector<Token> tokens;
//     std::vector<SampledFrom<DraftRow>> distributions;     // DraftRow: the type of logits(i) below
//     for (Index i = 0; i < lookahead; ++i) {
//         const auto [token, distribution] = draft_token(rng.at(Purpose::draft, i), logits(i));
//         tokens.push_back(token);
//         distributions.push_back(distribution);
//     }
//     const Round round = verify(tokens, distributions, target_rows, rule, rng, limits, workspace);
//
// The draw sums a row of logits, which is its normaliser; verification needs it again, and has it from there.
// Sampled(row) of the same logits finds it a second time: one more pass per drafted token.
#pragma once

#include <specsample/kernels/logits.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample {

namespace detail {

/// A drafted token, and what it was drawn from.
template <class R>
struct DraftedToken {
    Token token = -1;
    SampledFrom<R> distribution;
};

}  // namespace detail

/// Draw a token from a row, and return it with the row as its distribution, normaliser included.
///
/// @param random draw   the random numbers of one address: rng.at(Purpose::draft, node), node the place of the token in
/// the
///               draft. One uniform is used
/// @param row    probabilities, Logits or a sparse row of either; borrowed until the round ends, so that a row that
///               would be gone with the call does not compile
/// @returns      the token, and a distribution that verify takes. Where nothing can be drawn (no positive sum, no
///               finite one) the token is -1, which verify answers with a fault
/// @cost         one pass; no allocation
template <class Rng, Row R>
detail::DraftedToken<R> draft_token(const Rng& rng, const R& row) {
    const auto weights = kernels::row_weights(row);
    return {static_cast<Token>(draw(rng, weights).index), Sampled(kernels::probs_of(row, weights))};
}
template <class Rng, Row R>
    requires detail::owns<R>
detail::DraftedToken<R> draft_token(const Rng& rng, const R&& row) = delete;

}  // namespace specsample

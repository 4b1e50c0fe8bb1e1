// Baselines for speculative sampling: the two classical ways to sample a target, and the bound of one round.
//
//   plain_sample(rng, target)                draw from the target
//   rejection_sample(rng, draft, target)     draw from the draft until a draw is accepted with probability p / (M q)
//   rejection_constant(draft, target)        M = max p/q, the expected number of draws
//   exact_one_round_bound(draft, target, K)  the one-round bound of two models, by enumeration
//
// Rejection sampling is exact as well, but wastes the tokens that it rejects: it needs M draws per token on average. M
// is large where q is small against p, and infinite where q = 0 < p. Speculative sampling draws once from the draft and
// replaces a rejected token by a draw from the residual: it has no constant and allows any draft.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/row.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/testing/enumerate.hpp>
#include <specsample/theory/acceptance.hpp>

namespace baselines {

using namespace specsample;

/// Draw a token from the target: the same token as a round of lookahead 0 draws with the same source.
/// @returns  the token; -1 where the row's sum is not a positive number
/// @draws    one, at (Purpose::last, 0)
template <RandomSource Source, RowLike Target>
Index plain_sample(const Source& rng, const Target& target) {
    return draw(rng.at(Purpose::last, 0), kernels::RowWeights(detail::as_row(target))).index;
}

/// Compute the smallest M with p <= M q: the expected number of draws of `rejection_sample`.
///
///     M = max p/q over p > 0
///
/// @returns   1 or more for rows that sum to 1; 0 for a target without mass
/// @throws    std::invalid_argument if the sizes differ, or where a token has p > 0 = q and M would be infinite
/// @cost      one pass over both rows
template <RowLike Draft, RowLike Target>
double rejection_constant(const Draft& draft, const Target& target) {
    constexpr auto where = "rejection_constant";
    const auto p = detail::as_row(target);
    const auto q = detail::as_row(draft);
    if (p.size() != q.size())
        detail::invalid(where, "the draft row's size", q.size(), "the target row's, " + detail::to_text(p.size()));
    double constant = 0;
    for (Index i = 0; i < p.size(); ++i) {
        const double s = static_cast<double>(p.coeff(i)), mass = static_cast<double>(q.coeff(i));
        if (!(s > 0)) continue;
        if (!(mass > 0))
            detail::invalid(where, "the draft's probability of token " + detail::to_text(i), mass,
                            "above 0, like the target's: no finite constant bounds their ratio");
        constant = std::max(constant, s / mass);
    }
    return constant;
}

/// Make one try of rejection sampling: draw a token x from the draft, and keep it with probability p(x) / (M q(x)).
///
/// The probability that a try keeps x is p(x) / M.
/// @param constant   M, at least max p/q
/// @returns          the token, or nothing where it was rejected or the draft has no mass
/// @draws            one at (Purpose::draft, node), one at (Purpose::accept, node)
template <RandomSource Source, RowLike Draft, RowLike Target>
std::optional<Index> rejection_try(const Source& rng, Index node, const Draft& draft, const Target& target,
                                   double constant) {
    const Index token =
        specsample::draw(rng.at(Purpose::draft, node), kernels::RowWeights(detail::as_row(draft))).index;
    if (token < 0) return std::nullopt;
    const double s = static_cast<double>(detail::as_row(target).coeff(token));
    const double mass = static_cast<double>(detail::as_row(draft).coeff(token));
    if (!accept(rng.at(Purpose::accept, node), s, constant * mass)) return std::nullopt;
    return token;
}

/// The result of rejection sampling.
struct Rejected {
    Index token = -1;
    Index tries = 0;  ///< tries until a token was kept: geometric, M on average
};

/// Sample the target by drawing from the draft until a draw is kept.
///
///     x ~ q,  u M q(x) < p(x) ? keep x : draw again
///
/// The token's distribution is p: the distribution of one try, given that the try keeps its token.
///
/// @throws   std::invalid_argument as `rejection_constant`, and if the target has no mass
/// @draws    one of Purpose::draft and one of Purpose::accept per try, at nodes 0, 1, 2 ..
/// @cost     M tries on average, one pass over the draft row each
/// @source   von Neumann: "Various techniques used in connection with random digits", 1951
template <RandomSource Source, RowLike Draft, RowLike Target>
Rejected rejection_sample(const Source& rng, const Draft& draft, const Target& target) {
    const double constant = rejection_constant(draft, target);
    detail::require(detail::is_positive(constant), "rejection_sample", "max p/q", constant, "a positive number");
    for (Index tries = 0;; ++tries)
        if (const auto token = rejection_try(rng, tries, draft, target, constant)) return {*token, tries + 1};
}

/// Compute the one-round bound of two models after a prompt: the most tokens that a lossless rule can expect if it sees
/// only one round.
///
///     1 + sum over i <= K of (1 - TV of the distributions of the first i tokens)
///
/// @param draft, target   models that return rows
/// @cost                  V^K paths
template <class Draft, class Target>
double exact_one_round_bound(Draft draft, Target target, Index lookahead, const std::vector<Token>& prompt = {}) {
    double bound = 0;
    testing::Enumerator().run([&](testing::Enumerator& paths) {
        std::vector<Token> text = prompt;
        std::vector<double> ratios;
        for (Index i = 0; i < lookahead; ++i) {
            const Eigen::VectorXd q =
                detail::as_row(draft(std::span<const Token>(text))).template cast<double>().matrix();
            const Eigen::VectorXd p =
                detail::as_row(target(std::span<const Token>(text))).template cast<double>().matrix();
            text.push_back(static_cast<Token>(paths.choose({q.begin(), q.end()})));
            ratios.push_back(p[text.back()] / q[text.back()]);
        }
        bound += paths.probability() * theory::one_round_bound_of_path(ratios);
    });
    return bound;
}

}  // namespace baselines

// Optimal stopping: the published fixed points, and that no other rule does better.
#include <specsample/length/optimal_stopping.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <specsample/theory/best_lookahead.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::theory;

namespace {

/// Acceptances that are .95 or .3 and known before the token is drafted, at most 40 tokens.
constexpr double betas[] = {.95, .3}, chances[] = {.6, .4};

/// Expected tokens beyond the first one, and cost, after `survival`, under the rule that drafts where `goes_on` says.
template <class GoesOn>
detail::RoundMeans drafted(double cost, const GoesOn& goes_on, double survival, int depth) {
    detail::RoundMeans means{0, 0};
    if (depth == 40) return means;
    for (int i = 0; i < 2; ++i) {
        const double next = survival * betas[i];
        if (!goes_on(next)) continue;
        const detail::RoundMeans rest = drafted(cost, goes_on, next, depth + 1);
        means.tokens += chances[i] * (next + rest.tokens);
        means.cost += chances[i] * (cost + rest.cost);
    }
    return means;
}

template <class GoesOn>
detail::RoundMeans round_of(double cost, const GoesOn& goes_on) {
    const detail::RoundMeans means = drafted(cost, goes_on, 1, 0);
    return {1 + means.tokens, 1 + means.cost};
}

detail::RoundMeans at_threshold(double cost, double threshold) {
    return round_of(cost, [&](double survival) { return survival >= threshold; });
}

/// The largest tokens - rate * cost from here on over all rules that see the acceptances: by dynamic programming,
/// without the assumption of a threshold.
double best_gain(double cost, double rate, double survival, int depth) {
    if (depth == 0) return 0;
    double gain = 0;
    for (int i = 0; i < 2; ++i) {
        const double next = survival * betas[i];
        gain += chances[i] * std::max(0., next - rate * cost + best_gain(cost, rate, next, depth - 1));
    }
    return gain;
}

}  // namespace

TEST_CASE("best_rate finds the published fixed points of the two-point acceptance", "[length]") {
    const double costs[] = {.1, .2, .3}, published[] = {2.128799, 1.78891, 1.60389}, digits[] = {5e-7, 5e-6, 5e-6};
    for (int i = 0; i < 3; ++i) {
        const double cost = costs[i];
        CAPTURE(cost);
        int steps = 0;
        const double rate = detail::best_rate(cost, [&](double threshold) {
            ++steps;
            return at_threshold(cost, threshold);
        });
        CHECK(rate == Approx(published[i]).margin(digits[i]));
        CHECK(steps <= 6);

        const detail::RoundMeans means =
            round_of(cost, [&](double survival) { return detail::pays_to_draft(survival, cost, rate); });
        CHECK(means.tokens / means.cost == Approx(rate).epsilon(1e-12));
        for (int k = 20; k < 400; ++k) {
            const detail::RoundMeans other = at_threshold(cost, k / 400.);
            REQUIRE(other.tokens / other.cost <= rate + 1e-12);
        }
    }
}

TEST_CASE("no rule that sees the acceptances beats the optimal stop: dynamic programming", "[length]") {
    // Rounds of 16 tokens at most: the optimum over all rules has value 0 at its own rate.
    for (const double cost : {.1, .2, .3}) {
        CAPTURE(cost);
        const double rate = detail::best_rate(cost, [&](double threshold) { return at_threshold(cost, threshold); });
        CHECK(1 - rate + best_gain(cost, rate, 1, 16) == Approx(0).margin(cost == .3 ? 1e-12 : 2e-4));
        CHECK(1 - rate + best_gain(cost, rate, 1, 16) < 1e-12);
    }
}

TEST_CASE("the best fixed lookahead earns less than the optimal stop", "[length]") {
    const double mean = .6 * .95 + .4 * .3;
    CHECK(speedup(mean, best_lookahead(mean, .1, FlatCost{}, 40), .1) == Approx(1.944).margin(5e-4));
}

TEST_CASE("with one known acceptance the optimal stop is the best lookahead", "[length]") {
    for (const double alpha : {.3, .6, .8, .95}) {
        for (const double cost : {.01, .1, .5}) {
            CAPTURE(alpha, cost);
            const double rate = detail::best_rate(cost, [&](double threshold) {
                detail::RoundMeans means;
                for (double survival = alpha; survival >= threshold; survival *= alpha) {
                    means.tokens += survival;
                    means.cost += cost;
                }
                return means;
            });
            CHECK(rate == Approx(speedup(alpha, best_lookahead(alpha, cost, FlatCost{}, 400), cost)).epsilon(1e-12));
        }
    }
    CHECK(detail::best_rate(.5, [](double) { return detail::RoundMeans{1.1, 1.5}; }) == 1);  // nothing pays
}

TEST_CASE("one more token pays from the threshold on", "[length]") {
    CHECK(detail::pays_to_draft(.5, .25, 2));
    CHECK_FALSE(detail::pays_to_draft(.4999, .25, 2));
    CHECK(detail::pays_to_draft(0, 0, 2));
    CHECK_FALSE(detail::pays_to_draft(1, .6, 2));
}

TEST_CASE("the optimal stop refuses impossible parameters, by name", "[length]") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const auto fine = [](double) { return detail::RoundMeans{}; };
    CHECK_THROWS_WITH(detail::pays_to_draft(1.5, .1, 2),
                      "specsample::pays_to_draft: survival is 1.5, but must be in [0, 1]");
    CHECK_THROWS_AS(detail::pays_to_draft(nan, .1, 2), std::invalid_argument);
    CHECK_THROWS_WITH(detail::pays_to_draft(.5, -.1, 2),
                      "specsample::pays_to_draft: draft_cost is -0.1, but must be finite and 0 or more");
    CHECK_THROWS_WITH(detail::pays_to_draft(.5, .1, 0),
                      "specsample::pays_to_draft: rate is 0, but must be finite and above 0");
    CHECK_THROWS_WITH(detail::best_rate(inf, fine),
                      "specsample::best_rate: draft_cost is inf, but must be finite and 0 or more");
    CHECK_THROWS_WITH(detail::best_rate(.1,
                                        [](double) {
                                            return detail::RoundMeans{1, 0};
                                        }),
                      "specsample::best_rate: cost is 0, but must be finite and above 0");
    CHECK_THROWS_WITH(detail::best_rate(.1,
                                        [](double) {
                                            return detail::RoundMeans{-1, 1};
                                        }),
                      "specsample::best_rate: tokens is -1, but must be finite and above 0");
    CHECK(detail::best_rate(.1, fine) == 1);
}

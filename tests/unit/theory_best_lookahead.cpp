// best_lookahead and continuous_lookahead: the published table, the first-difference rule, measured costs.
#include <specsample/theory/speedup.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

using specsample::Index;
using specsample::theory::best_lookahead;
using specsample::theory::continuous_lookahead;
using specsample::theory::expected_tokens;
using specsample::theory::FlatCost;
using specsample::theory::speedup;

namespace {

constexpr double grid_costs[] = {.01, .02, .05, .1, .2, .3, .5, .8};

/// The smallest K with alpha^(K+1) (1 + c K) <= c N(alpha, K): where the flat speed-up stops rising.
Index first_difference_rule(double alpha, double cost) {
    for (Index k = 0;; ++k) {
        const double rise = std::pow(alpha, k + 1) * (1. + cost * static_cast<double>(k));
        if (rise <= cost * expected_tokens(alpha, k)) return k;
    }
}

}  // namespace

TEST_CASE("best_lookahead reproduces the table of optima under flat cost", "[analysis]") {
    const double costs[] = {.01, .02, .05, .1, .2, .3, .5};
    const struct {
        double alpha;
        Index best[7];
    } table[] = {
        {.6, {7, 6, 4, 3, 2, 1, 1}},        {.7, {9, 8, 6, 4, 3, 2, 1}},     {.8, {14, 11, 8, 6, 4, 3, 2}},
        {.85, {17, 14, 10, 7, 5, 4, 2}},    {.9, {24, 19, 13, 10, 7, 5, 3}}, {.95, {40, 31, 21, 15, 10, 8, 5}},
        {.98, {74, 56, 37, 26, 18, 13, 9}},
    };
    for (const auto& row : table) {
        for (int i = 0; i < 7; ++i) {
            CAPTURE(row.alpha, costs[i]);
            CHECK(best_lookahead(row.alpha, costs[i], FlatCost{}, 100) == row.best[i]);
        }
    }
    CHECK(speedup(.8, 6, .1) == Approx(2.4696).margin(5e-5));
    CHECK(speedup(.95, 40, .01) == Approx(12.5416).margin(5e-5));
}

TEST_CASE("best_lookahead under flat cost follows the first-difference rule on the whole grid", "[analysis]") {
    for (int percent = 5; percent < 100; ++percent) {
        const double alpha = percent / 100.;
        for (const double cost : grid_costs) {
            CAPTURE(alpha, cost);
            const Index best = best_lookahead(alpha, cost, FlatCost{}, 400);
            REQUIRE(speedup(alpha, best, cost) ==
                    Approx(speedup(alpha, first_difference_rule(alpha, cost), cost)).epsilon(1e-12));
            REQUIRE((best == 0) == (alpha <= cost));
        }
    }
}

TEST_CASE("best_lookahead is 0 when drafting does not pay, and on ties", "[analysis]") {
    CHECK(best_lookahead(.3, .3, FlatCost{}, 20) == 0);
    CHECK(best_lookahead(.5, .5, FlatCost{}, 20) == 0);
    CHECK(best_lookahead(.2, .3, FlatCost{}, 20) == 0);
    CHECK(best_lookahead(0., 0., FlatCost{}, 20) == 0);
    CHECK(best_lookahead(1., 0., FlatCost{}, 20) == 20);
    CHECK(best_lookahead(.9, .01, FlatCost{}, 0) == 0);
    // cost doubles after every fourth position: 4 / 1 at lookahead 3 ties with 8 / 2 at 7
    const auto tiles = [](Index positions) { return static_cast<double>((positions + 3) / 4); };
    CHECK(best_lookahead(1., 0., tiles, 7) == 3);
}

TEST_CASE("best_lookahead changes with every parameter", "[analysis]") {
    CHECK(best_lookahead(.8, .1, FlatCost{}, 20) == 6);
    CHECK(best_lookahead(.7, .1, FlatCost{}, 20) == 4);
    CHECK(best_lookahead(.8, .2, FlatCost{}, 20) == 4);
    CHECK(best_lookahead(.8, .1, FlatCost{}, 5) == 5);
    CHECK(best_lookahead(
              .8, .1, [](Index n) { return 1. + .1 * static_cast<double>(n - 1); }, 20) == 4);
}

TEST_CASE("best_lookahead obeys measured verification costs, down to not speculating", "[analysis]") {
    // performance.md, section 7, two cores, 1 to 8 positions, gaps filled linearly
    const std::vector<double> int8_own{1., 1.16, 1.18, 1.20, 1.21, 1.19, 1.16, 1.14};
    const std::vector<double> f16_llama{1., 1.6, 2.1, 2.6, 3.2, 3.67, 4.13, 4.6};
    CHECK(best_lookahead(.8, .1, FlatCost{}, 7) == 6);
    CHECK(best_lookahead(.8, .1, int8_own, 7) == 7);
    CHECK(best_lookahead(.8, .1, f16_llama, 7) == 2);
    CHECK(best_lookahead(.6, .1, FlatCost{}, 7) == 3);
    CHECK(best_lookahead(.6, .1, f16_llama, 7) == 0);
}

TEST_CASE("best_lookahead finds the higher of two peaks", "[analysis]") {
    const auto step = [](Index positions) { return positions <= 2 ? 1. : 1.5; };
    CHECK(speedup(.95, 2, .01, step) < speedup(.95, 1, .01, step));
    CHECK(best_lookahead(.95, .01, step, 2) == 1);
    CHECK(best_lookahead(.95, .01, step, 7) == 7);
}

TEST_CASE("continuous_lookahead is within 1 of the integer optimum on the whole grid", "[analysis]") {
    double worst = 0.;
    for (int percent = 5; percent < 100; ++percent) {
        const double alpha = percent / 100.;
        for (const double cost : grid_costs) {
            CAPTURE(alpha, cost);
            const double real = continuous_lookahead(alpha, cost);
            if (alpha <= cost) {
                REQUIRE(real == 0.);
                continue;
            }
            REQUIRE(real > 0.);
            worst = std::max(worst, std::abs(real - static_cast<double>(best_lookahead(alpha, cost, FlatCost{}, 400))));
        }
    }
    CHECK(worst < 1.);
}

TEST_CASE("continuous_lookahead is where the speed-up over real numbers is flat", "[analysis]") {
    const auto speed = [](double alpha, double cost, double k) {
        return (1. - std::pow(alpha, k + 1.)) / (1. - alpha) / (1. + cost * k);
    };
    for (const double alpha : {.3, .6, .9, .99}) {
        for (const double cost : {.001, .05, .25}) {
            CAPTURE(alpha, cost);
            const double k = continuous_lookahead(alpha, cost);
            REQUIRE(speed(alpha, cost, k) > speed(alpha, cost, k - 1e-2));
            REQUIRE(speed(alpha, cost, k) > speed(alpha, cost, k + 1e-2));
        }
    }
    CHECK(continuous_lookahead(.8, .1) > continuous_lookahead(.7, .1));
    CHECK(continuous_lookahead(.8, .1) > continuous_lookahead(.8, .2));
}

TEST_CASE("continuous_lookahead stays finite where the exponential would underflow", "[analysis]") {
    // A = 1 + 3e6: e^-A is 0 in double
    const double k = continuous_lookahead(.05, 1e-6);
    CHECK(k == Approx(static_cast<double>(best_lookahead(.05, 1e-6, FlatCost{}, 20))).margin(1.));
    CHECK(std::isfinite(continuous_lookahead(1. - 1e-12, 1e-3)));
    CHECK(std::isfinite(continuous_lookahead(1. - 1e-16, .999)));
    CHECK(continuous_lookahead(0., .1) == 0.);
    CHECK(continuous_lookahead(.9, 2.) == 0.);
}

TEST_CASE("lambert_excess solves y - ln(1 + y) = u, Lambert's lower branch", "[analysis]") {
    using specsample::detail::lambert_excess;
    // W_{-1}(-0.1) = -3.577152063957297, W_{-1}(-0.2) = -2.542641357773526 (Corless et al. 1996)
    CHECK(lambert_excess(-std::log(.1) - 1.) == Approx(2.577152063957297).epsilon(1e-13));
    CHECK(lambert_excess(-std::log(.2) - 1.) == Approx(1.542641357773526).epsilon(1e-13));
    for (const double u : {1e-6, 1e-3, .1, 1., 10., 1e3, 1e9}) {
        const double y = lambert_excess(u);
        CHECK(y - std::log1p(y) == Approx(u).epsilon(1e-9));
    }
}

TEST_CASE("best_lookahead and continuous_lookahead refuse impossible parameters, by name", "[analysis]") {
    CHECK_THROWS_AS(best_lookahead(.8, .1, FlatCost{}, -1), std::invalid_argument);
    CHECK_THROWS_WITH(best_lookahead(.8, .1, FlatCost{}, -1),
                      "specsample::best_lookahead: max is -1, but must be 0 or more");
    CHECK_THROWS_WITH(best_lookahead(8., .1, FlatCost{}, 4),
                      "specsample::best_lookahead: alpha is 8, but must be in [0, 1]");
    CHECK_THROWS_WITH(best_lookahead(.8, -.5, FlatCost{}, 4),
                      "specsample::best_lookahead: draft_cost is -0.5, but must be finite and 0 or more");
    CHECK_THROWS_WITH(best_lookahead(.8, .1, std::vector<double>{1., 1.1}, 2),
                      "specsample::best_lookahead: size of the verify_cost table is 2, but must be at least "
                      "lookahead + 1");
    CHECK_NOTHROW(best_lookahead(.8, .1, std::vector<double>{1., 1.1}, 1));
    CHECK_THROWS_WITH(continuous_lookahead(1., .1),
                      "specsample::continuous_lookahead: alpha is 1, but must be in [0, 1)");
    CHECK_THROWS_WITH(continuous_lookahead(.8, 0.),
                      "specsample::continuous_lookahead: draft_cost is 0, but must be finite and above 0");
    CHECK_THROWS_AS(continuous_lookahead(std::nan(""), .1), std::invalid_argument);
}

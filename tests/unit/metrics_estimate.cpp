// estimate_acceptance: the ratio, Wilson's interval against published numbers, and its exact coverage.
#include <specsample/core/estimate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"

using specsample::Index;
using specsample::metrics::Estimate;
using specsample::metrics::estimate_acceptance;

TEST_CASE("estimate_acceptance is the ratio of the counts", "[analysis]") {
    CHECK(estimate_acceptance(7, 10).value == .7);
    CHECK(estimate_acceptance(0, 10).value == 0.);
    CHECK(estimate_acceptance(10, 10).value == 1.);
}

TEST_CASE("estimate_acceptance gives the Wilson intervals of the literature", "[analysis]") {
    // Newcombe 1998, Statistics in Medicine 17:857, Table I, method 3; z = 1.959964
    const struct {
        Index accepted, evaluated;
        double low, high;
    } published[] = {{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, .0000, .1611}, {1, 29, .0061, .1718}};
    for (const auto& row : published) {
        const Estimate estimate = estimate_acceptance(row.accepted, row.evaluated, 1.959964);
        CHECK(estimate.low == Approx(row.low).margin(5e-5));
        CHECK(estimate.high == Approx(row.high).margin(5e-5));
    }
    const Estimate by_hand = estimate_acceptance(7, 10);
    CHECK(by_hand.low == Approx(.39677321997956516).epsilon(1e-13));
    CHECK(by_hand.high == Approx(.892210712513788).epsilon(1e-13));
}

TEST_CASE("estimate_acceptance: z widens the interval, 1.96 unless told", "[analysis]") {
    CHECK(estimate_acceptance(7, 10) == estimate_acceptance(7, 10, 1.96));
    CHECK(estimate_acceptance(7, 10, 2.576).low < estimate_acceptance(7, 10).low);
    CHECK(estimate_acceptance(7, 10, 2.576).high > estimate_acceptance(7, 10).high);
    CHECK(estimate_acceptance(7, 10, 0.) == Estimate{.7, .7, .7});
}

TEST_CASE("estimate_acceptance: the interval holds the value and stays between 0 and 1", "[analysis]") {
    for (Index evaluated = 1; evaluated <= 40; ++evaluated) {
        for (Index accepted = 0; accepted <= evaluated; ++accepted) {
            for (const double z : {0., .5, 1.96, 8.}) {
                const Estimate e = estimate_acceptance(accepted, evaluated, z);
                const Estimate mirrored = estimate_acceptance(evaluated - accepted, evaluated, z);
                REQUIRE((0. <= e.low && e.low <= e.value && e.value <= e.high && e.high <= 1.));
                REQUIRE(e.low == Approx(1. - mirrored.high).margin(1e-14));
            }
        }
    }
    CHECK(estimate_acceptance(0, 12).low == 0.);
    CHECK(estimate_acceptance(12, 12).high == 1.);
}

TEST_CASE("estimate_acceptance knows nothing when nothing was evaluated", "[analysis]") {
    CHECK(estimate_acceptance(0, 0) == Estimate{0., 0., 1.});
    CHECK(estimate_acceptance(0, 0, 0.) == Estimate{0., 0., 1.});
    CHECK(Estimate{} == Estimate{0., 0., 1.});
}

TEST_CASE("estimate_acceptance covers the truth as often as promised", "[analysis]") {
    // Exact, no simulation: the binomial mass of the counts whose interval holds alpha, averaged over alpha.
    const Index n = 30;
    double mean = 0, worst = 1;
    const int cells = 180;
    for (int cell = 0; cell < cells; ++cell) {
        const double alpha = .05 + .9 * (cell + .5) / cells;
        double coverage = 0, mass = std::pow(1 - alpha, n);
        for (Index k = 0; k <= n; ++k) {
            const Estimate e = estimate_acceptance(k, n);
            if (e.low <= alpha && alpha <= e.high) coverage += mass;
            mass *= static_cast<double>(n - k) / static_cast<double>(k + 1) * alpha / (1 - alpha);
        }
        mean += coverage / cells;
        worst = std::min(worst, coverage);
    }
    CHECK(mean == Approx(.95).margin(.005));
    CHECK(worst > .9);
}

TEST_CASE("estimate_acceptance refuses impossible counts", "[analysis]") {
    CHECK_THROWS_AS(estimate_acceptance(3, 2), std::invalid_argument);
    CHECK_THROWS_WITH(estimate_acceptance(3, 2),
                      "specsample::estimate_acceptance: accepted is 3, but must be in [0, evaluated]");
    CHECK_THROWS_WITH(estimate_acceptance(-1, 2),
                      "specsample::estimate_acceptance: accepted is -1, but must be in [0, evaluated]");
    CHECK_THROWS_WITH(estimate_acceptance(0, -2),
                      "specsample::estimate_acceptance: evaluated is -2, but must be 0 or more");
    CHECK_THROWS_WITH(estimate_acceptance(1, 2, -1.),
                      "specsample::estimate_acceptance: z is -1, but must be finite and 0 or more");
    CHECK_THROWS_AS(estimate_acceptance(1, 2, std::numeric_limits<double>::infinity()), std::invalid_argument);
    CHECK_THROWS_AS(estimate_acceptance(1, 2, std::nan("")), std::invalid_argument);
}

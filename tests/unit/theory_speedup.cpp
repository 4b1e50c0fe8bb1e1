// speedup and operations_factor: published tables, the three agreeing forms, and measured verification costs.
#include <specsample/theory/expected_tokens.hpp>
#include <specsample/theory/speedup.hpp>

#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

using specsample::Index;
using specsample::theory::expected_tokens;
using specsample::theory::FlatCost;
using specsample::theory::operations_factor;
using specsample::theory::speedup;

static_assert(specsample::theory::VerifyCost<FlatCost> && specsample::theory::VerifyCost<std::vector<double>>);
static_assert(!specsample::theory::VerifyCost<double> && !specsample::theory::VerifyCost<std::vector<float>>);

TEST_CASE("speedup and operations_factor reproduce Leviathan's table", "[analysis]") {
    // arXiv:2211.17192, Table 1: draft cost and draft operations 0
    const struct {
        double alpha;
        Index lookahead;
        double operations, speed;
    } table[] = {{.6, 2, 1.53, 1.96}, {.7, 3, 1.58, 2.53}, {.8, 2, 1.23, 2.44},
                 {.8, 5, 1.63, 3.69}, {.9, 2, 1.11, 2.71}, {.9, 10, 1.60, 6.86}};
    for (const auto& row : table) {
        CHECK(operations_factor(row.alpha, row.lookahead, 0.) == Approx(row.operations).margin(.005));
        CHECK(speedup(row.alpha, row.lookahead, 0.) == Approx(row.speed).margin(.005));
    }
}

TEST_CASE("speedup: three forms in use are the same number", "[analysis]") {
    const struct {
        double alpha, target_time, draft_time;
        Index lookahead;
    } cases[] = {{.8, 14.1, 1.8, 4}, {.6, 73.3, 11.9, 4}, {.9, 1., .05, 7}};
    for (const auto& [alpha, target_time, draft_time, lookahead] : cases) {
        const double k = static_cast<double>(lookahead), tokens = expected_tokens(alpha, lookahead);
        const double share = tokens / (k + 1.);
        const double speed = speedup(alpha, lookahead, draft_time / target_time);
        CHECK(speed == Approx(tokens * target_time / (target_time + k * draft_time)).epsilon(1e-13));
        CHECK(speed == Approx(share * (k + 1.) * target_time / (k * draft_time + target_time)).epsilon(1e-13));
    }
}

TEST_CASE("speedup from the capacity rates of measured systems", "[analysis]") {
    const auto from = [](double share, double target_time, double draft_time) {
        const double alpha = specsample::theory::conditional_rate(specsample::theory::CapacityRate{share}, 4);
        return speedup(alpha, 4, draft_time / target_time);
    };
    CHECK(from(.8, 14.1, 1.8) == Approx(2.647887323943662).epsilon(1e-12));
    CHECK(from(.62, 14.1, 1.8) == Approx(2.052112676056338).epsilon(1e-12));
    CHECK(from(.8125, 73.3, 11.9) == Approx(2.463037634408602).epsilon(1e-12));
}

TEST_CASE("speedup is possible if and only if alpha exceeds the draft cost", "[analysis]") {
    CHECK(speedup(.3, 1, .3) == 1.);
    for (int percent = 0; percent <= 100; ++percent) {
        const double alpha = percent / 100.;
        REQUIRE(speedup(alpha, 1, alpha) == 1.);
        REQUIRE(speedup(alpha, 1, alpha + .005) < 1.);
        REQUIRE((alpha == 0. || speedup(alpha, 1, alpha - .005) > 1.));
        for (Index lookahead = 2; lookahead < 20; ++lookahead) {
            REQUIRE(speedup(alpha, lookahead, alpha) <= 1. + 1e-15);
        }
    }
}

TEST_CASE("speedup changes with every parameter", "[analysis]") {
    const double base = speedup(.8, 4, .1);
    CHECK(base == Approx(3.3616 / 1.4).epsilon(1e-14));
    CHECK(speedup(.9, 4, .1) > base);
    CHECK(speedup(.8, 5, .1) == Approx(3.68928 / 1.5).epsilon(1e-14));
    CHECK(speedup(.8, 4, .2) == Approx(3.3616 / 1.8).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, [](Index) { return 2.; }) == Approx(3.3616 / 2.4).epsilon(1e-14));
}

TEST_CASE("speedup takes a flat cost, a callable and a table", "[analysis]") {
    const auto linear = [](Index positions) { return 1. + .05 * static_cast<double>(positions - 1); };
    const std::vector<double> table{1., 1.05, 1.1, 1.15, 1.2};
    const std::array<double, 5> milliseconds{20., 21., 22., 23., 24.};
    const double array[] = {1., 1.05, 1.1, 1.15, 1.2};
    const double expected = 3.3616 / (.4 + 1.2);
    CHECK(speedup(.8, 4, .1, linear) == Approx(expected).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, table) == Approx(expected).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, std::span<const double>(table)) == Approx(expected).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, milliseconds) == Approx(expected).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, array) == Approx(expected).epsilon(1e-14));
    CHECK(speedup(.8, 4, .1, FlatCost{}) == speedup(.8, 4, .1));
    CHECK(speedup(.8, 4, .1, [](Index positions) { return static_cast<int>(positions > 4) + 1; }) ==
          Approx(3.3616 / 2.4).epsilon(1e-14));
}

TEST_CASE("speedup of a measured F16 pass at five positions is a loss", "[analysis]") {
    // 14.7 ms for one position, 3.2 times that for five: performance.md, section 7
    const std::vector<double> f16{14.7, 23.5, 30.9, 38.2, 47.0};
    CHECK(speedup(.8, 4, .1) > 2.4);
    CHECK(speedup(.8, 4, .1, f16) < 1.);
}

TEST_CASE("speedup without drafting is 1", "[analysis]") {
    CHECK(speedup(.8, 0, .1) == 1.);
    CHECK(speedup(0., 0, 5., std::vector<double>{14.7}) == 1.);
    CHECK(speedup(1., 7, 0.) == 8.);
}

TEST_CASE("operations_factor follows its formula and every parameter", "[analysis]") {
    CHECK(operations_factor(.8, 5, .1) == Approx(.2 * (.5 + 6.) / (1. - std::pow(.8, 6))).epsilon(1e-13));
    CHECK(operations_factor(.9, 5, .1) < operations_factor(.8, 5, .1));
    CHECK(operations_factor(.8, 6, .1) > operations_factor(.8, 5, .1));
    CHECK(operations_factor(.8, 5, .2) == Approx(.2 * (1. + 6.) / (1. - std::pow(.8, 6))).epsilon(1e-13));
    CHECK(operations_factor(.8, 0, .1) == 1.);
    CHECK(operations_factor(1., 4, .1) == Approx(1. + .4 / 5.).epsilon(1e-14));
    CHECK(operations_factor(0., 4, .1) == Approx(5.4).epsilon(1e-14));
}

TEST_CASE("speedup refuses impossible parameters, by name", "[analysis]") {
    const std::vector<double> three{1., 1.1, 1.2};
    CHECK_THROWS_AS(speedup(.8, 3, .1, three), std::invalid_argument);
    CHECK_THROWS_WITH(speedup(.8, 3, .1, three),
                      "specsample::speedup: size of the verify_cost table is 3, but must be at least lookahead + 1");
    CHECK_NOTHROW(speedup(.8, 2, .1, three));
    CHECK_THROWS_WITH(speedup(.8, 0, .1, std::vector<double>{}),
                      "specsample::speedup: size of the verify_cost table is 0, but must be at least lookahead + 1");
    CHECK_THROWS_WITH(speedup(1.5, 3, .1), "specsample::speedup: alpha is 1.5, but must be in [0, 1]");
    CHECK_THROWS_WITH(speedup(.5, -3, .1), "specsample::speedup: lookahead is -3, but must be 0 or more");
    CHECK_THROWS_WITH(speedup(.5, 3, -.5), "specsample::speedup: draft_cost is -0.5, but must be finite and 0 or more");
    CHECK_THROWS_AS(speedup(.5, 3, std::nan("")), std::invalid_argument);
    CHECK_THROWS_WITH(speedup(.5, 3, .1, [](Index) { return 0.; }),
                      "specsample::speedup: verify_cost is 0, but must be finite and above 0");
    CHECK_THROWS_AS(speedup(.5, 1, .1, std::vector<double>{0., 1.}), std::invalid_argument);
    CHECK_THROWS_WITH(operations_factor(.5, 3, -1.),
                      "specsample::operations_factor: draft_operations is -1, but must be finite and 0 or more");
    CHECK_THROWS_WITH(operations_factor(-1., 3, 1.),
                      "specsample::operations_factor: alpha is -1, but must be in [0, 1]");
    CHECK_THROWS_WITH(operations_factor(.5, -1, 1.),
                      "specsample::operations_factor: lookahead is -1, but must be 0 or more");
}

TEST_CASE("a replay costs a round what its rejection costs on average", "[analysis]") {
    using specsample::theory::best_lookahead;
    using specsample::theory::Replay;
    const auto cost = [](Index n) { return 1 + .1 * static_cast<double>(n - 1); };
    for (const Replay replay : {Replay{}, Replay{.restore = .3}, Replay{.per_token = .2}, Replay{.1, .4}})
        for (const double alpha : {0., .3, .8, 1.}) {
            double fastest = 0;
            Index best = 0;
            for (Index lookahead = 0; lookahead <= 6; ++lookahead) {
                double tokens = 0, time = 0, reached = 1;
                for (Index accepted = 0; accepted <= lookahead; ++accepted, reached *= alpha) {
                    const bool all = accepted == lookahead;
                    const double chance = all ? reached : reached * (1 - alpha);
                    tokens += chance * static_cast<double>(accepted + 1);
                    time += chance * (.05 * static_cast<double>(lookahead) + cost(lookahead + 1) +
                                      (all ? 0 : replay.restore + static_cast<double>(accepted) * replay.per_token));
                }
                CHECK(speedup(alpha, lookahead, .05, cost, replay) == Approx(tokens / time).epsilon(1e-13));
                if (tokens / time > fastest) fastest = tokens / time, best = lookahead;
            }
            CHECK(best_lookahead(alpha, .05, cost, 6, replay) == best);
        }
    CHECK_THROWS_WITH(speedup(.5, 2, .1, FlatCost{}, {.restore = -1}),
                      "specsample::speedup: replay.restore is -1, but must be finite and 0 or more");
    CHECK_THROWS_WITH(best_lookahead(.5, .1, FlatCost{}, 2, {.per_token = HUGE_VAL}),
                      "specsample::best_lookahead: replay.per_token is inf, but must be finite and 0 or more");
}

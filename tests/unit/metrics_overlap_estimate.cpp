// OverlapEstimate: the same mean as counting with less variance, by full enumeration; merging; errors.
#include <specsample/core/tally.hpp>
#include <specsample/metrics/overlap_estimate.hpp>
#include <specsample/theory/acceptance.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using specsample::Index;
using specsample::LastToken;
using specsample::Tally;
using specsample::metrics::Estimate;
using specsample::metrics::Moments;
using specsample::metrics::OverlapEstimate;

namespace {

using Row = std::array<double, 3>;

// Rows in tenths that depend on the text: those of the first position, then those after each first token.
struct GivenRows {
    Row target, draft;
};
const GivenRows first{{.5, .3, .2}, {.2, .3, .5}};
const std::array<GivenRows, 3> second{
    {{{.1, .8, .1}, {.1, .7, .2}}, {{.6, .2, .2}, {.1, .1, .8}}, {{.3, .3, .4}, {.4, .3, .3}}}};

int tenths(double x) { return static_cast<int>(std::lround(10 * x)); }
int overlap_in_tenths(const GivenRows& rows, std::size_t token) {
    return std::min(tenths(rows.target[token]), tenths(rows.draft[token]));
}
double overlap(const GivenRows& rows) { return specsample::theory::acceptance(rows.draft, rows.target); }

/// One round of two drafted tokens by token verification, recorded in both.
void play_round(Uniforms& uniform, Tally& tally, OverlapEstimate& estimate) {
    const auto accepted_token = [&](const GivenRows& rows) -> int {
        double random = 10 * uniform();
        for (std::size_t token = 0; token < 3; ++token)
            if ((random -= overlap_in_tenths(rows, token)) < 0) return static_cast<int>(token);
        return -1;
    };
    estimate.add(0, overlap(first));
    const int token = accepted_token(first);
    const GivenRows& next = second[static_cast<std::size_t>(std::max(token, 0))];
    if (token >= 0) estimate.add(1, overlap(next));
    const Index accepted = token < 0 ? 0 : accepted_token(next) < 0 ? 1 : 2;
    tally.record({.proposed = 2,
                  .evaluated = std::min<Index>(accepted + 1, 2),
                  .accepted = accepted,
                  .tokens = accepted + 1,
                  .last = accepted < 2 ? LastToken::recovered : LastToken::bonus});
}

}  // namespace

TEST_CASE("OverlapEstimate: the mean of counting and less variance, by enumeration", "[analysis]") {
    // Every outcome of a round, as many times in a hundred as it comes: sums over rounds are expectations here.
    Tally tally;
    OverlapEstimate estimate;
    const auto record = [&](int times, Index accepted, Index evaluated, std::size_t token) {
        for (int i = 0; i < times; ++i) {
            tally.record({.proposed = 2,
                          .evaluated = evaluated,
                          .accepted = accepted,
                          .tokens = accepted + 1,
                          .last = accepted < 2 ? LastToken::recovered : LastToken::bonus});
            estimate.add(0, overlap(first));
            if (evaluated == 2) estimate.add(1, overlap(second[token]));
        }
    };
    double expected_rng = 0, evaluated_second = 0;
    for (std::size_t x = 0; x < 3; ++x) {
        const int times = overlap_in_tenths(first, x);
        int accepted = 0;
        for (std::size_t y = 0; y < 3; ++y) accepted += overlap_in_tenths(second[x], y);
        record(times * accepted, 2, 2, x);
        record(times * (10 - accepted), 1, 2, x);
        evaluated_second += times;
        expected_rng += times * accepted * .1 * (1 - accepted * .1);
    }
    record(100 - 10 * static_cast<int>(evaluated_second), 0, 1, 0);
    REQUIRE(tally.rounds == 100);

    for (const Index position : {0, 1}) {
        const Moments overlaps = estimate.at(position);
        const double mean = tally.acceptance_at(position).value;
        const double by_rows = overlaps.squares / static_cast<double>(overlaps.count);
        const double by_counts = mean * (1 - mean);
        CHECK(overlaps.count == tally.positions[static_cast<std::size_t>(position)].evaluated);
        CHECK(overlaps.mean == Approx(mean).epsilon(1e-12));
        // Var(accepted) = Var(o) + E[o (1 - o)]
        const double rng = position == 0 ? overlap(first) * (1 - overlap(first)) : expected_rng / evaluated_second;
        CHECK(by_counts == Approx(by_rows + rng).epsilon(1e-12));
        CHECK(by_rows < .3 * by_counts);
    }
    CHECK(estimate.at(1).squares > .1);  // the rows of the second position do differ
    CHECK(estimate.all().mean == Approx(tally.acceptance().value).epsilon(1e-12));
    CHECK(estimate.all().count == tally.evaluated);
    CHECK(estimate.acceptance().value == Approx(tally.acceptance().value).epsilon(1e-12));
}

TEST_CASE("OverlapEstimate spreads less than counting between texts, around the same mean", "[analysis]") {
    // 4000 texts of 25 rounds. Exact: alpha = (.7 + .59) / 1.7, computed below. The mean over texts of a ratio whose
    // denominator is random is off by some 1e-3; standard deviations are .0015 and .0005, so 8 of them allowed.
    Uniforms uniform{3};
    Moments by_counts, by_rows;
    int covered = 0;
    double accepted = overlap(first), evaluated = 1 + overlap(first);
    for (std::size_t x = 0; x < 3; ++x) accepted += .1 * overlap_in_tenths(first, x) * overlap(second[x]);
    const double alpha = accepted / evaluated;
    for (int text = 0; text < 4000; ++text) {
        Tally tally;
        OverlapEstimate estimate;
        for (int round = 0; round < 25; ++round) play_round(uniform, tally, estimate);
        by_counts.add(tally.acceptance().value);
        by_rows.add(estimate.acceptance().value);
        const Estimate rows = estimate.acceptance();
        covered += rows.low <= alpha && alpha <= rows.high;
    }
    CHECK(by_counts.mean == Approx(alpha).margin(.012));
    CHECK(by_rows.mean == Approx(alpha).margin(.004));
    CHECK(by_rows.standard_error() < .5 * by_counts.standard_error());
    CHECK(covered > .9 * 4000);
}

TEST_CASE("Moments lose no digits far from zero", "[analysis]") {
    Moments near, far;
    for (const double x : {.25, .5, 1., .125, .75}) {
        near.add(x);
        far.add(x + 1e6);
    }
    CHECK(near.mean == Approx(.525).epsilon(1e-15));
    CHECK(near.squares == Approx(.5125).epsilon(1e-14));
    CHECK(far.squares == Approx(near.squares).epsilon(1e-8));
    CHECK(near.standard_error() == Approx(std::sqrt(.5125 / 4 / 5)).epsilon(1e-14));
    CHECK(Moments{}.standard_error() == .5);
}

TEST_CASE("OverlapEstimate merges to the estimate of all positions, in any order", "[analysis]") {
    Uniforms uniform{5};
    for (int context = 0; context < 100; ++context) {
        std::array<OverlapEstimate, 4> parts;
        OverlapEstimate whole;
        for (int i = 0; i < 60 * uniform(); ++i) {
            const auto position = static_cast<Index>(5 * uniform());
            const double value = uniform();
            whole.add(position, value);
            parts[static_cast<std::size_t>(4 * uniform())].add(position, value);
        }
        std::array<std::size_t, 4> order{0, 1, 2, 3};
        for (std::size_t i = 3; i > 0; --i)
            std::swap(order[i], order[static_cast<std::size_t>(static_cast<double>(i + 1) * uniform())]);
        OverlapEstimate merged;
        for (const std::size_t part : order) merged += parts[part];
        for (Index position = 0; position < 6; ++position) {
            REQUIRE(merged.at(position).count == whole.at(position).count);
            REQUIRE(merged.at(position).mean == Approx(whole.at(position).mean).margin(1e-14));
            REQUIRE(merged.at(position).squares == Approx(whole.at(position).squares).margin(1e-13));
        }
        REQUIRE(merged.all().mean == Approx(whole.all().mean).margin(1e-14));
    }
    OverlapEstimate same;
    same.add(2, .5);
    OverlapEstimate sum = same;
    sum += OverlapEstimate{};
    CHECK(sum == same);
    sum += sum;
    CHECK(sum.at(2) == Moments{2, .5, 0});
}

TEST_CASE("OverlapEstimate: an interval of standard errors inside 0 and 1", "[analysis]") {
    OverlapEstimate estimate;
    CHECK(estimate.acceptance() == Estimate{0., 0., 1.});
    estimate.add(0, .6);
    CHECK(estimate.acceptance() == Estimate{.6, 0., 1.});
    estimate.add(1, .8);
    const double error = std::sqrt(.02 / 2);
    CHECK(estimate.acceptance().value == Approx(.7).epsilon(1e-15));
    CHECK(estimate.acceptance(1.).low == Approx(.7 - error).epsilon(1e-14));
    CHECK(estimate.acceptance(1.).high == Approx(.7 + error).epsilon(1e-14));
    CHECK(estimate.acceptance(100.).low == 0.);
    CHECK(estimate.acceptance(100.).high == 1.);
    CHECK(estimate.acceptance_at(1) == Estimate{.8, 0., 1.});
    CHECK(estimate.acceptance_at(7) == Estimate{0., 0., 1.});
}

TEST_CASE("OverlapEstimate refuses invalid overlaps, and adds nothing then", "[analysis]") {
    OverlapEstimate estimate;
    estimate.reserve(4);
    estimate.add(0, 1.);
    estimate.add(1, 0.);
    const OverlapEstimate before = estimate;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(estimate.add(-1, .5), "specsample::OverlapEstimate::add: position is -1, but must be 0 or more");
    CHECK_THROWS_WITH(estimate.add(9, 1.5), "specsample::OverlapEstimate::add: overlap is 1.5, but must be in [0, 1]");
    CHECK_THROWS_AS(estimate.add(9, -1e-9), std::invalid_argument);
    CHECK_THROWS_AS(estimate.add(9, nan), std::invalid_argument);
    CHECK(estimate == before);
    CHECK_THROWS_WITH(estimate.reserve(-1),
                      "specsample::OverlapEstimate::reserve: lookahead is -1, but must be 0 or more");
    CHECK_THROWS_WITH(estimate.at(-1), "specsample::OverlapEstimate::at: position is -1, but must be 0 or more");
    CHECK_THROWS_WITH(estimate.acceptance(-1.),
                      "specsample::OverlapEstimate::acceptance: z is -1, but must be finite and 0 or more");
    CHECK_THROWS_AS(estimate.acceptance(nan), std::invalid_argument);
}

// RoundTimes: the costs that measurements determine, and those that they do not.
#include <specsample/length/round_times.hpp>

#include <limits>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// The expected cost of rounds: half a pass per drafted token.
double expected(Index lookahead) { return 1 + .5 * static_cast<double>(lookahead); }

/// The same, in steps of four positions.
double tiles(Index lookahead) { return 1 + static_cast<double>((lookahead + 3) / 4); }

double flat(Index) { return 1; }

}  // namespace

TEST_CASE("what was not measured follows from what was, along the expected costs", "[length]") {
    detail::RoundTimes times;
    CHECK(times.empty());
    CHECK(times.cost(0, expected) == 1);
    CHECK(times.cost(3, expected) == 2.5);

    CHECK(times.observe(4, 30));  // in proportion: 10 per unit
    CHECK_FALSE(times.empty());
    CHECK(times.cost(4, expected) == 30);
    CHECK(times.cost(0, expected) == 10);
    CHECK(times.cost(6, expected) == 40);

    CHECK(times.observe(0, 22));  // a line: 2 per token
    CHECK(times.cost(0, expected) == 22);
    CHECK(times.cost(1, expected) == 24);
    CHECK(times.cost(3, expected) == 28);
    CHECK(times.cost(4, expected) == 30);
    CHECK(times.cost(9, expected) == 40);

    CHECK(times.observe(8, 26));  // lines between neighbours, and the mean rise of .5 beyond
    CHECK(times.cost(2, expected) == 26);
    CHECK(times.cost(6, expected) == 28);
    CHECK(times.cost(8, expected) == 26);
    CHECK(times.cost(10, expected) == 27);
}

TEST_CASE("expected steps are kept, and where no rise is expected time is linear", "[length]") {
    detail::RoundTimes times;
    times.observe(0, 10);
    times.observe(5, 16);
    CHECK(times.cost(1, tiles) == 13);
    CHECK(times.cost(4, tiles) == 13);
    CHECK(times.cost(8, tiles) == 16);
    CHECK(times.cost(9, tiles) == 19);
    CHECK(times.cost(1, flat) == Approx(11.2));
    CHECK(times.cost(10, flat) == Approx(22));
}

TEST_CASE("longer drafts that were measured to be faster make no time negative", "[length]") {
    detail::RoundTimes times;
    times.observe(0, 10);
    times.observe(2, 1);
    for (Index lookahead = 0; lookahead < 50; ++lookahead) {
        CHECK(times.cost(lookahead, expected) >= 1);
        CHECK(times.cost(lookahead, [](Index k) { return 1 + 100. * static_cast<double>(k % 3); }) >= 1);
    }
}

TEST_CASE("an expectation that jumps about concludes nothing outside of what was measured around it", "[length]") {
    detail::RoundTimes times;
    times.observe(0, 10);
    times.observe(4, 20);
    const auto jumps = [](Index k) { return k == 2 ? 1000. : k == 3 || k == 9 ? .001 : expected(k); };
    CHECK(times.cost(1, jumps) == 12.5);
    CHECK(times.cost(2, jumps) == 20);
    CHECK(times.cost(3, jumps) == 10);
    CHECK(times.cost(9, jumps) == 10);
}

TEST_CASE("times are smoothed: a mean at first, a moving one later", "[length]") {
    detail::RoundTimes times;
    for (const double seconds : {1., 1.2, 1.4, 1.6}) times.observe(2, seconds);
    CHECK(times.cost(2, flat) == Approx(1.3));
    for (int i = 0; i < 200; ++i) times.observe(2, 2);
    CHECK(times.cost(2, flat) == Approx(2).epsilon(1e-6));
    times.observe(2, 3);
    CHECK(times.cost(2, flat) == Approx(2.1).epsilon(1e-6));
}

TEST_CASE("a pause of the machine hardly counts, not even as the first measurement", "[length]") {
    detail::RoundTimes times;
    for (int i = 0; i < 50; ++i) times.observe(2, 1);
    times.observe(2, 1000);
    CHECK(times.cost(2, flat) == Approx(1.1).epsilon(1e-6));
    detail::RoundTimes cold;
    cold.observe(2, 1000);
    cold.observe(2, 1);
    CHECK(cold.cost(2, flat) <= 2);
    for (int i = 0; i < 50; ++i) cold.observe(2, 1);
    CHECK(cold.cost(2, flat) == Approx(1).margin(.02));
}

TEST_CASE("a clock that steps back, stands still or fails is ignored", "[length]") {
    detail::RoundTimes times;
    times.observe(2, 1);
    for (const double seconds :
         {-1., 0., -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(seconds);
        CHECK_FALSE(times.observe(2, seconds));
        CHECK_FALSE(times.observe(5, seconds));
        CHECK(times.cost(2, flat) == 1);
        CHECK(times.cost(5, flat) == 1);
    }
}

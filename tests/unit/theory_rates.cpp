// The three rates: known conversions, round trips, and the differences between them.
#include <specsample/theory/expected_tokens.hpp>

#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "support/catch.hpp"

using specsample::Index;
using specsample::theory::capacity_rate;
using specsample::theory::CapacityRate;
using specsample::theory::conditional_rate;
using specsample::theory::ConditionalRate;
using specsample::theory::drafted_rate;
using specsample::theory::DraftedRate;
using specsample::theory::expected_tokens;

static_assert(std::is_convertible_v<ConditionalRate, double>);
static_assert(!std::is_convertible_v<DraftedRate, double> && !std::is_convertible_v<CapacityRate, double>,
              "the other two must not slip into a formula that takes alpha");
static_assert(!std::is_convertible_v<double, ConditionalRate>);

TEST_CASE("a capacity rate of .8 at lookahead 4 is a conditional one of .8882", "[analysis]") {
    CHECK(conditional_rate(CapacityRate{.8}, 4).value == Approx(.8881796675853099).epsilon(1e-12));
    CHECK(conditional_rate(CapacityRate{.62}, 4).value == Approx(.7582995926787843).epsilon(1e-12));
    CHECK(conditional_rate(CapacityRate{.8125}, 4).value == Approx(.8959811000498028).epsilon(1e-12));
    CHECK(capacity_rate(ConditionalRate{.8881796675853099}, 4).value == Approx(.8).epsilon(1e-12));
    CHECK(capacity_rate(ConditionalRate{.7582995926787843}, 4).value == Approx(.62).epsilon(1e-12));
}

TEST_CASE("3.2 of 4 drafted is .8 over drafted and .913 conditionally", "[analysis]") {
    CHECK(conditional_rate(DraftedRate{3.2 / 4}, 4).value == Approx(.9127066592055705).epsilon(1e-12));
    CHECK(conditional_rate(DraftedRate{5.8 / 8}, 8).value == Approx(.9280134211007364).epsilon(1e-12));
    CHECK(expected_tokens(conditional_rate(DraftedRate{.8}, 4), 4) == Approx(4.2).epsilon(1e-12));
    CHECK(expected_tokens(conditional_rate(DraftedRate{.725}, 8), 8) == Approx(6.8).epsilon(1e-12));
}

TEST_CASE("accepted over drafted understates alpha: .388 for .7 at lookahead 5", "[analysis]") {
    CHECK(drafted_rate(ConditionalRate{.7}, 5).value == Approx(.388234).epsilon(1e-12));
    CHECK(drafted_rate(ConditionalRate{.7}, 1).value == .7);
    CHECK(drafted_rate(ConditionalRate{.7}, 10).value < drafted_rate(ConditionalRate{.7}, 5).value);
}

TEST_CASE("the rates agree with expected_tokens and return from both conversions", "[analysis]") {
    for (int percent = 0; percent <= 100; ++percent) {
        const ConditionalRate alpha{percent / 100.};
        for (const Index lookahead : {1, 2, 4, 5, 8, 31}) {
            const double tokens = expected_tokens(alpha, lookahead), k = static_cast<double>(lookahead);
            const DraftedRate drafted = drafted_rate(alpha, lookahead);
            const CapacityRate capacity = capacity_rate(alpha, lookahead);
            REQUIRE(drafted.value == Approx((tokens - 1.) / k).margin(1e-14));
            REQUIRE(capacity.value == Approx(tokens / (k + 1.)).epsilon(1e-14));
            REQUIRE(conditional_rate(drafted, lookahead).value == Approx(alpha.value).margin(1e-12));
            REQUIRE(conditional_rate(capacity, lookahead).value == Approx(alpha.value).margin(1e-12));
        }
    }
}

TEST_CASE("the rates at their edges", "[analysis]") {
    CHECK(conditional_rate(DraftedRate{1.}, 4).value == 1.);
    CHECK(conditional_rate(CapacityRate{1.}, 4).value == 1.);
    CHECK(conditional_rate(DraftedRate{0.}, 4).value < 1e-15);
    for (const Index lookahead : {1, 2, 4, 6, 48}) {
        CHECK(conditional_rate(CapacityRate{1. / static_cast<double>(lookahead + 1)}, lookahead).value < 1e-14);
    }
    CHECK(capacity_rate(ConditionalRate{.3}, 0).value == 1.);
    CHECK(drafted_rate(ConditionalRate{1.}, 4).value == 1.);
    CHECK(drafted_rate(ConditionalRate{0.}, 4).value == 0.);
}

TEST_CASE("the rates refuse values they cannot have", "[analysis]") {
    CHECK_THROWS_AS(conditional_rate(CapacityRate{.1}, 4), std::invalid_argument);
    CHECK_THROWS_WITH(conditional_rate(CapacityRate{.1}, 4),
                      "specsample::conditional_rate: tokens over capacity is 0.1, but must be in "
                      "[1 / (lookahead + 1), 1]");
    CHECK_THROWS_AS(conditional_rate(CapacityRate{1.01}, 4), std::invalid_argument);
    CHECK_THROWS_WITH(conditional_rate(CapacityRate{1.}, 0),
                      "specsample::conditional_rate: lookahead is 0, but must be 1 or more");
    CHECK_THROWS_WITH(conditional_rate(DraftedRate{1.5}, 4),
                      "specsample::conditional_rate: accepted over drafted is 1.5, but must be in [0, 1]");
    CHECK_THROWS_AS(conditional_rate(DraftedRate{std::nan("")}, 4), std::invalid_argument);
    CHECK_THROWS_WITH(conditional_rate(DraftedRate{.5}, 0),
                      "specsample::conditional_rate: lookahead is 0, but must be 1 or more");
    CHECK_THROWS_WITH(drafted_rate(ConditionalRate{.5}, 0),
                      "specsample::drafted_rate: lookahead is 0, but must be 1 or more");
    CHECK_THROWS_WITH(drafted_rate(ConditionalRate{2.}, 3),
                      "specsample::drafted_rate: alpha is 2, but must be in [0, 1]");
    CHECK_THROWS_WITH(capacity_rate(ConditionalRate{-1.}, 3),
                      "specsample::capacity_rate: alpha is -1, but must be in [0, 1]");
    CHECK_THROWS_WITH(capacity_rate(ConditionalRate{.5}, -3),
                      "specsample::capacity_rate: lookahead is -3, but must be 0 or more");
}

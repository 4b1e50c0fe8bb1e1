// expected_tokens: exact rationals, the edges, and accuracy where the quotient form cancels.
#include <specsample/theory/expected_tokens.hpp>

#include <cmath>
#include <stdexcept>

#include "support/catch.hpp"

using specsample::Index;
using specsample::theory::expected_tokens;

TEST_CASE("expected_tokens gives the exact rationals of the running examples", "[analysis]") {
    const double toy[] = {5. / 3, 19. / 9, 65. / 27, 211. / 81, 665. / 243};
    for (Index lookahead = 1; lookahead <= 5; ++lookahead) {
        CHECK(expected_tokens(2. / 3, lookahead) == Approx(toy[lookahead - 1]).epsilon(1e-14));
    }
    CHECK(expected_tokens(.7, 2) == Approx(219. / 100).epsilon(1e-14));
    CHECK(expected_tokens(.7, 3) == Approx(2533. / 1000).epsilon(1e-14));
    CHECK(expected_tokens(.7, 4) == Approx(27731. / 10000).epsilon(1e-14));
}

TEST_CASE("expected_tokens at its edges", "[analysis]") {
    CHECK(expected_tokens(0., 0) == 1.);
    CHECK(expected_tokens(0., 7) == 1.);
    CHECK(expected_tokens(.6, 0) == 1.);
    CHECK(expected_tokens(.3, 1) == 1.3);
    for (const Index lookahead : {0, 1, 2, 5, 63, 64, 1000000}) {
        CHECK(expected_tokens(1., lookahead) == static_cast<double>(lookahead + 1));
    }
    CHECK(expected_tokens(.9, 1000000) == Approx(10.).epsilon(1e-14));
}

TEST_CASE("expected_tokens equals the sum of the powers, and the quotient away from 1", "[analysis]") {
    for (int percent = 0; percent < 100; ++percent) {
        const double alpha = percent / 100.;
        double sum = 1.;
        for (Index lookahead = 0; lookahead <= 40; ++lookahead) {
            REQUIRE(expected_tokens(alpha, lookahead) == Approx(sum).epsilon(1e-13));
            REQUIRE(expected_tokens(alpha, lookahead) ==
                    Approx((1. - std::pow(alpha, lookahead + 1)) / (1. - alpha)).epsilon(1e-12));
            sum = 1. + alpha * sum;
        }
    }
}

TEST_CASE("expected_tokens loses nothing next to alpha = 1", "[analysis]") {
    // K + 1 - d K (K + 1) / 2 + O(d^2 K^3)
    for (const double d : {1e-8, 1e-12, 1e-15}) {
        const double alpha = 1. - d, exact_d = 1. - alpha;
        CHECK(expected_tokens(alpha, 5) == Approx(6. - 15. * exact_d).epsilon(1e-15));
        CHECK(expected_tokens(alpha, 5) <= 6.);
    }
}

TEST_CASE("clustered acceptance emits more than expected_tokens of its mean", "[analysis]") {
    const double clustered = .5 * expected_tokens(.5, 5) + .5 * expected_tokens(1., 5);
    CHECK(clustered == Approx(3.984375).epsilon(1e-14));
    CHECK(expected_tokens(.75, 5) == Approx(3.2880859375).epsilon(1e-14));
    const double mild = .5 * expected_tokens(.6, 5) + .5 * expected_tokens(.9, 5);
    CHECK(mild > expected_tokens(.75, 5));
}

TEST_CASE("expected_tokens refuses invalid probabilities and counts", "[analysis]") {
    CHECK_THROWS_AS(expected_tokens(1.25, 4), std::invalid_argument);
    CHECK_THROWS_WITH(expected_tokens(1.25, 4), "specsample::expected_tokens: alpha is 1.25, but must be in [0, 1]");
    CHECK_THROWS_WITH(expected_tokens(-.5, 4), "specsample::expected_tokens: alpha is -0.5, but must be in [0, 1]");
    CHECK_THROWS_AS(expected_tokens(std::nan(""), 4), std::invalid_argument);
    CHECK_THROWS_WITH(expected_tokens(.5, -1), "specsample::expected_tokens: lookahead is -1, but must be 0 or more");
}

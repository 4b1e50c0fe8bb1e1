// Stops inside a draft: the rows where they stop, and the options that they refuse.
#include <specsample/length/stops.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <specsample/rows/logits.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

/// Two tokens of these probabilities.
Eigen::Vector2d two(double p) { return {p, 1 - p}; }

double entropy_of_two(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

const double not_a_number = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a confidence stop ends a draft after a token below its threshold, and never before one", "[length]") {
    const ConfidenceStop stop(.3);
    CHECK(stop.after(.2999));
    CHECK_FALSE(stop.after(.3));
    CHECK_FALSE(stop.after(1));
    CHECK_FALSE(stop.before(detail::as_row(two(.5))));
    CHECK_FALSE(stop.before(detail::as_row(two(1e-9))));

    CHECK(ConfidenceStop().after(.3999));  // the default of transformers
    CHECK_FALSE(ConfidenceStop().after(.4));
    CHECK_FALSE(ConfidenceStop(0).after(0));
    CHECK(ConfidenceStop(1).after(.999));
    CHECK_FALSE(ConfidenceStop(1).after(1));
}

TEST_CASE("an entropy stop ends a draft before a row whose root entropy is above h, and never after a token",
          "[length]") {
    for (const double p : {.01, .1, .3, .5}) {
        INFO("p " << p);
        const double root = std::sqrt(entropy_of_two(p));
        CHECK(EntropyStop(root * .999).before(detail::as_row(two(p))));
        CHECK_FALSE(EntropyStop(root * 1.001).before(detail::as_row(two(p))));
        const Eigen::VectorXf logits = two(p).array().log().cast<float>();
        CHECK(EntropyStop(root * .999).before(detail::as_row(Logits(logits))));
        CHECK_FALSE(EntropyStop(root * 1.001).before(detail::as_row(Logits(logits))));
    }
    CHECK_FALSE(EntropyStop(0).before(detail::as_row(two(1))));
    CHECK(EntropyStop(0).before(detail::as_row(two(.999))));
    CHECK_FALSE(EntropyStop(0).after(0));
    CHECK_FALSE(EntropyStop(0).after(1));
    CHECK_FALSE(EntropyStop(0).before(detail::as_row(two(not_a_number))));  // drawing from it finds it
}

TEST_CASE("the bound of AdaEDL is an entropy stop", "[length]") {
    for (const double gamma : {.1, .2, 1.}) {
        for (const double p : {.01, .1, .3, .5}) {
            const double bound = 1 - std::sqrt(gamma * entropy_of_two(p));
            if (bound < .01) continue;
            CAPTURE(gamma, p, bound);
            CHECK_FALSE(EntropyStop::below_acceptance(bound - .001, gamma).before(detail::as_row(two(p))));
            CHECK(EntropyStop::below_acceptance(bound + .001, gamma).before(detail::as_row(two(p))));
        }
    }
    CHECK_FALSE(EntropyStop::below_acceptance(0, .2).before(detail::as_row(two(.5))));
}

TEST_CASE("stops refuse impossible thresholds, by name", "[length]") {
    CHECK_THROWS_WITH(ConfidenceStop(-.1), "specsample::ConfidenceStop: threshold is -0.1, but must be in [0, 1]");
    CHECK_THROWS_WITH(ConfidenceStop(1.5), "specsample::ConfidenceStop: threshold is 1.5, but must be in [0, 1]");
    CHECK_THROWS_AS(ConfidenceStop(not_a_number), std::invalid_argument);
    CHECK_THROWS_WITH(EntropyStop(-1), "specsample::EntropyStop: h is -1, but must be finite and 0 or more");
    CHECK_THROWS_AS(EntropyStop(inf), std::invalid_argument);
    CHECK_THROWS_AS(EntropyStop(not_a_number), std::invalid_argument);
    CHECK_THROWS_WITH(EntropyStop::below_acceptance(1.1, .2),
                      "specsample::EntropyStop::below_acceptance: least is 1.1, but must be in [0, 1]");
    CHECK_THROWS_WITH(EntropyStop::below_acceptance(.4, 0),
                      "specsample::EntropyStop::below_acceptance: gamma is 0, but must be finite and above 0");
    CHECK_THROWS_AS(EntropyStop::below_acceptance(-.1, .2), std::invalid_argument);
    CHECK_THROWS_AS(EntropyStop::below_acceptance(.4, -1), std::invalid_argument);
    CHECK_THROWS_AS(EntropyStop::below_acceptance(.4, inf), std::invalid_argument);
}

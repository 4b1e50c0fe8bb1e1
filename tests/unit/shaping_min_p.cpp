// MinP against its definition.
#include <specsample/shaping/truncation.hpp>

#include <cmath>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

/// Keep the ids with at least min_p times the largest probability.
Array<double> reference(const Array<double>& probs, double min_p) {
    std::vector<Index> ids;
    for (Index i = 0; i < probs.size(); ++i)
        if (probs[i] > 0 && probs[i] >= min_p * probs.maxCoeff()) ids.push_back(i);
    return only(probs, ids);
}

}  // namespace

TEST_CASE("what is at least min_p times as probable as the largest is kept", "[shaping]") {
    for (const Index size : {1, 2, 10, 33, 1000})
        for (std::uint64_t seed = 0; seed < 10; ++seed)
            for (const double min_p : {1e-9, .05, .1, .26, .8})
                for (const double temperature : {.4, 1., 3.}) {
                    const auto logits = random_logits(size, seed);
                    const auto expected = reference(softmax_of(logits, temperature), min_p);
                    const Pipeline pipeline{Temperature{temperature}, MinP{min_p}};
                    INFO("size " << size << ", seed " << seed << ", min_p " << min_p);
                    REQUIRE(distance(through(pipeline, Logits(logits)), expected) < 1e-14);
                    REQUIRE(distance(through(pipeline, softmax_of(logits)), expected) < 1e-12);
                    const auto probs = row_of<double>(size, seed);
                    REQUIRE(distance(through(MinP{min_p}, probs), reference(probs, min_p)) < 1e-14);
                }
}

TEMPLATE_TEST_CASE("the token at the threshold is kept, the next one below is not", "[shaping]", float, double) {
    Array<TestType> probs(4);
    probs << TestType(.5), TestType(.125), TestType(.25), TestType(.125);
    CHECK(possible(through(MinP{.5}, probs)) == std::vector<Index>{0, 2});
    CHECK(possible(through(MinP{std::nextafter(.5, 1.)}, probs)) == std::vector<Index>{0});
    CHECK(possible(through(MinP{.25}, probs)) == std::vector<Index>{0, 1, 2, 3});
    CHECK(possible(through(MinP{std::nextafter(.25, 1.)}, probs)) == std::vector<Index>{0, 2});
}

TEST_CASE("a min_p of 1 keeps the most probable and its equals", "[shaping]") {
    CHECK(possible(through(MinP{1}, Array<double>(Eigen::Array4d(.1, .4, .4, .1)))) == std::vector<Index>{1, 2});
    CHECK(possible(through(MinP{1}, Logits(Array<double>(Eigen::Array4d(1, 3, 3, 2)), .01))) ==
          std::vector<Index>{1, 2});
}

TEST_CASE("a min_p of 0 keeps everything, and looks at nothing", "[shaping]") {
    const auto logits = random_logits<float>(30, 1);
    filters::ShapedMemory<float> memory;
    CHECK(shape(Logits(logits), MinP{0}, {}, memory).held().numbers().data() == logits.data());
}

TEMPLATE_TEST_CASE("what is impossible is never kept, however low the threshold", "[shaping]", float, double) {
    const auto lowest = -std::numeric_limits<TestType>::infinity();
    Array<TestType> probs(3), logits(3);
    probs << TestType(.5), 0, TestType(.5);
    logits << 1, lowest, 0;
    filters::ShapedMemory<TestType> memory;
    for (const double temperature : {1., 1e30, 1e300}) {
        const Pipeline pipeline{Temperature{temperature}, MinP{1e-300}};
        CHECK(shape(probs, pipeline, {}, memory).held().size() == 2);
        CHECK(shape(Logits(logits), pipeline, {}, memory).held().size() == 2);
    }
}

TEST_CASE("a min_p outside 0 to 1 cannot be built", "[shaping]") {
    CHECK_THROWS_WITH(MinP(1.5), "specsample::MinP: min_p is 1.5, but must be in [0, 1]");
    CHECK_THROWS_WITH(MinP(-.1), "specsample::MinP: min_p is -0.1, but must be in [0, 1]");
    CHECK_THROWS_AS(MinP(std::nan("")), std::invalid_argument);
}

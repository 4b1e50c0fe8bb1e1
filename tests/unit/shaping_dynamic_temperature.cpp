// A temperature that follows the entropy.
#include <specsample/shaping/dynamic_temperature.hpp>

#include <algorithm>
#include <cmath>

#include <specsample/shaping/pipeline.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

double temperature_of(const Array<double>& probs, double low, double high, double exponent) {
    double entropy = 0;
    for (const Index id : possible(probs)) entropy -= probs[id] * std::log(probs[id]);
    return low + (high - low) * std::pow(entropy / std::log(double(possible(probs).size())), exponent);
}

}  // namespace

TEMPLATE_TEST_CASE("the temperature follows the entropy", "[shaping]", float, double) {
    for (const double spread : {.1, 1., 4.})
        for (const double exponent : {.5, 1., 2.}) {
            Array<TestType> logits = random_logits<TestType>(700, 3) * static_cast<TestType>(spread);
            for (Index i = 0; i < 700; i += 4) logits[i] = -std::numeric_limits<TestType>::infinity();
            const Array<double> probs = softmax_of(logits);
            const double temperature = temperature_of(probs, .2, 1.4, exponent);
            const DynamicTemperature dynamic{.temperature = .8, .range = .6, .exponent = exponent};
            const double tolerance = sizeof(TestType) == 4 ? 1e-6 : 1e-12;
            INFO("spread " << spread << ", temperature " << temperature);
            CHECK(distance(through(dynamic, Logits(logits)), softmax_of(logits, temperature)) < tolerance);
            CHECK(distance(through(dynamic, Array<TestType>(probs.template cast<TestType>())),
                           softmax_of(logits, temperature)) < tolerance);
        }
}

TEST_CASE("the ends of a dynamic temperature", "[shaping]") {
    const auto logits = random_logits(50, 1);
    CHECK(distance(through(DynamicTemperature{.temperature = .7}, Logits(logits)), softmax_of(logits, .7)) < 1e-12);
    // certain: the temperature is low, here 0
    Array<double> certain = Array<double>::Zero(3);
    certain[1] = 1;
    CHECK((through(DynamicTemperature{1, 2}, certain) == certain).all());
    const Array<double> flat = Array<double>::Constant(4, .25);
    CHECK(distance(through(DynamicTemperature{1, 2}, flat), flat) < 1e-15);
    CHECK(possible(through(DynamicTemperature{1, .5}, Logits(logits, 0))).size() == 1);
}

TEST_CASE("a dynamic temperature is the only one, and in range", "[shaping]") {
    const auto logits = random_logits(50, 1);
    CHECK_THROWS_WITH(through(DynamicTemperature{1, .5}, Logits(logits, .5)), ContainsSubstring("given twice"));
    CHECK_THROWS_WITH(Pipeline(DynamicTemperature{-1}),
                      "specsample::DynamicTemperature: temperature is -1, but must be a finite number >= 0");
    CHECK_THROWS_WITH(through(DynamicTemperature{1, -1}, Logits(logits)),
                      "specsample::DynamicTemperature: range is -1, but must be a finite number >= 0");
    CHECK_THROWS_WITH(Pipeline(DynamicTemperature{1, 1, 0}),
                      "specsample::DynamicTemperature: exponent is 0, but must be a positive number");
}

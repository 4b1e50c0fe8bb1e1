// Temperature on logits and on probabilities is softmax of the logits at that temperature.
#include <specsample/shaping/temperature.hpp>

#include <cmath>
#include <limits>

#include <specsample/kernels/softmax.hpp>
#include <specsample/shaping/pipeline.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

template <class Scalar>
Array<double> at(double temperature, const Array<Scalar>& row) {
    return through(Temperature{temperature}, row);
}

}  // namespace

TEST_CASE("temperature is softmax of the logits at that temperature", "[shaping]") {
    for (const Index size : {1, 2, 7, 33, 1000})
        for (const double temperature : {.1, .5, .8, 1., 1.5, 4., 100.}) {
            const auto logits = random_logits(size, 1);
            const Array<double> expected = softmax(logits, temperature).array();
            INFO("size " << size << ", temperature " << temperature);
            CHECK(distance(at<double>(temperature, softmax(logits).array()), expected) < 1e-12);
            CHECK(distance(through(Temperature{temperature}, Logits(logits)), expected) < 1e-12);
            CHECK(distance(through(Temperature{1}, Logits(logits, temperature)), expected) < 1e-12);
        }
}

TEST_CASE("temperature on float probabilities agrees with double ones", "[shaping]") {
    const Array<double> probs = softmax(random_logits(1000, 1)).array();
    for (const double temperature : {.3, .7, 1.5})
        CHECK(distance(at<float>(temperature, probs.cast<float>()), at<double>(temperature, probs)) < 1e-6);
}

TEST_CASE("temperature one half squares, temperature 2 takes the root", "[shaping]") {
    const Array<double> probs = Eigen::Array3d(.5, .3, .2);
    const Array<double> cold = at<double>(.5, probs), hot = at<double>(2, probs);
    CHECK(cold[0] == Approx(.25 / .38).epsilon(1e-14));
    CHECK(cold[2] == Approx(.04 / .38).epsilon(1e-14));
    const double sum = std::sqrt(.5) + std::sqrt(.3) + std::sqrt(.2);
    CHECK(hot[1] == Approx(std::sqrt(.3) / sum).epsilon(1e-14));
}

TEST_CASE("temperature 1 changes nothing, not even the last bit", "[shaping]") {
    const Array<float> probs = softmax(random_logits<float>(100, 1)).array();
    CHECK((at<float>(1, probs) == probs.cast<double>()).all());
}

TEST_CASE("temperature is not applied to logits: they stay the model's own memory", "[shaping]") {
    const auto logits = random_logits<float>(1000, 2);
    for (const double temperature : {.5, 1., 2.}) {
        filters::ShapedMemory<float> memory;
        const auto row = shape(Logits(logits), Temperature{temperature}, {}, memory);
        CHECK(row.held().numbers().data() == logits.data());
        CHECK(row.held().temperature() == temperature);
        CHECK(row.ids().holds_every_id());
        CHECK(memory.row.numbers.empty());
    }
}

TEMPLATE_TEST_CASE("temperature 0 is the argmax, lowest id on ties, and one token is all that is left", "[shaping]",
                   float, double) {
    Array<TestType> row(4);
    row << TestType(.2), TestType(.3), TestType(.2), TestType(.3);
    const auto shaped = at<TestType>(0, row);
    CHECK(shaped[1] == 1);
    CHECK(shaped.sum() == 1);
    CHECK(possible(through(Temperature{0}, Logits(row))) == std::vector<Index>{1});
    CHECK(possible(through(Temperature{1}, Logits(row, 0))) == std::vector<Index>{1});
    filters::ShapedMemory<TestType> memory;
    CHECK(shape(Logits(row), Temperature{0}, {}, memory).ids().size(4) == 1);
}

TEMPLATE_TEST_CASE("equal largest logits share all probability at a tiny temperature", "[shaping]", float, double) {
    Array<TestType> row(3);
    row << TestType(.4), TestType(.2), TestType(.4);
    for (const double temperature : {1e-300, 5e-324, 1e-40})
        for (const auto& shaped : {at<TestType>(temperature, row), through(Temperature{temperature}, Logits(row))}) {
            CHECK(shaped[0] == .5);
            CHECK(shaped[2] == .5);
        }
}

TEMPLATE_TEST_CASE("a huge temperature makes possible tokens equally likely", "[shaping]", float, double) {
    Array<TestType> row(4);
    row << TestType(.7), TestType(.2), TestType(.05), TestType(.05);
    for (const double temperature : {1e12, 1e40, 1e300})
        for (const auto& shaped : {at<TestType>(temperature, row), through(Temperature{temperature}, Logits(row))})
            CHECK(shaped.maxCoeff() - shaped.minCoeff() < 1e-6);
}

TEMPLATE_TEST_CASE("a row at any temperature sums to 1", "[shaping]", float, double) {
    const Array<TestType> probs = softmax(random_logits(32000, 1)).template cast<TestType>().array();
    for (const double temperature : {.01, .6, 1.7, 1e5})
        CHECK(std::abs(at<TestType>(temperature, probs).sum() - 1) < 1e-6);
}

TEST_CASE("a row certain of one token stays certain", "[shaping]") {
    const Array<double> certain = Eigen::Array3d(0, 1, 0);
    for (const double temperature : {0., .5, 1., 3.}) CHECK(at<double>(temperature, certain)[1] == Approx(1));
}

TEST_CASE("a negative or non-finite temperature cannot be built", "[shaping]") {
    CHECK_THROWS_AS(Temperature(-1), std::invalid_argument);
    CHECK_THROWS_WITH(Temperature(-.1),
                      "specsample::Temperature: temperature is -0.1, but must be a finite number >= 0");
    CHECK_THROWS_WITH(Temperature(infinity),
                      "specsample::Temperature: temperature is inf, but must be a finite number >= 0");
    CHECK_THROWS_AS(Temperature(std::nan("")), std::invalid_argument);
    CHECK_NOTHROW(Temperature(0));
}

TEMPLATE_TEST_CASE("an entry of probability 0 keeps it at every temperature", "[shaping]", float, double) {
    for (const double temperature : {0., 1e-300, .5, 1., 2., 1e9, 1e300}) {
        Array<TestType> probs = Array<TestType>::Constant(33, 1 / TestType(16));
        Array<TestType> logits = Array<TestType>::Zero(33);
        for (Index i = 0; i < 33; i += 2) {
            probs[i] = 0;
            logits[i] = -std::numeric_limits<TestType>::infinity();
        }
        INFO("temperature " << temperature);
        for (const auto& shaped :
             {at<TestType>(temperature, probs), through(Temperature{temperature}, Logits(logits))}) {
            for (Index i = 0; i < 33; i += 2) CHECK(shaped[i] == 0);
            CHECK(std::abs(shaped.sum() - 1) < 1e-6);
        }
    }
}

// Temperature on probabilities is softmax of the logits at that temperature.
#include <specsample/shaping/temperature.hpp>

#include <cmath>
#include <limits>

#include <specsample/kernels/softmax.hpp>
#include <specsample/random/coins.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

Eigen::VectorXd logits_of(Index size) {
    Eigen::VectorXd logits(size);
    for (Index i = 0; i < size; ++i) logits[i] = 8 * Coin({.seed = 1}).uniform(static_cast<std::uint32_t>(i)) - 4;
    return logits;
}

template <class Scalar>
Eigen::Array<Scalar, Eigen::Dynamic, 1> at(double temperature, const Eigen::Array<Scalar, Eigen::Dynamic, 1>& row) {
    Eigen::Array<Scalar, Eigen::Dynamic, 1> probs = row;
    ShapingScratch scratch;
    Temperature{temperature}(probs, scratch);
    return probs;
}

}  // namespace

TEST_CASE("temperature on probabilities is softmax of the logits at that temperature", "[shaping]") {
    for (const Index size : {1, 2, 7, 33, 1000})
        for (const double temperature : {.1, .5, .8, 1., 1.5, 4., 100.}) {
            const Eigen::VectorXd logits = logits_of(size);
            const Eigen::ArrayXd shaped = at<double>(temperature, softmax(logits).array());
            INFO("size " << size << ", temperature " << temperature);
            CHECK((shaped - softmax(logits, temperature).array()).abs().maxCoeff() < 1e-12);
        }
}

TEST_CASE("temperature on float probabilities agrees with double ones", "[shaping]") {
    const Eigen::ArrayXd probs = softmax(logits_of(1000)).array();
    for (const double temperature : {.3, .7, 1.5})
        CHECK((at<float>(temperature, probs.cast<float>()).cast<double>() - at<double>(temperature, probs))
                  .abs()
                  .maxCoeff() < 1e-6);
}

TEST_CASE("temperature one half squares, temperature 2 takes the root", "[shaping]") {
    const Eigen::Array3d probs(.5, .3, .2);
    const Eigen::ArrayXd cold = at<double>(.5, probs), hot = at<double>(2, probs);
    CHECK(cold[0] == Approx(.25 / .38).epsilon(1e-14));
    CHECK(cold[2] == Approx(.04 / .38).epsilon(1e-14));
    const double sum = std::sqrt(.5) + std::sqrt(.3) + std::sqrt(.2);
    CHECK(hot[1] == Approx(std::sqrt(.3) / sum).epsilon(1e-14));
}

TEST_CASE("temperature 1 changes nothing, not even the last bit", "[shaping]") {
    const Eigen::ArrayXf probs = softmax(Eigen::VectorXf(logits_of(100).cast<float>())).array();
    CHECK((at<float>(1, probs) == probs).all());
}

TEMPLATE_TEST_CASE("probabilities at temperature 0 are the argmax, lowest id on ties", "[shaping]", float, double) {
    Eigen::Array<TestType, Eigen::Dynamic, 1> probs(4);
    probs << TestType(.2), TestType(.3), TestType(.2), TestType(.3);
    const auto shaped = at<TestType>(0, probs);
    CHECK(shaped[1] == 1);
    CHECK(shaped.sum() == 1);
}

TEMPLATE_TEST_CASE("probabilities at a tiny temperature are the argmax, ties shared", "[shaping]", float, double) {
    Eigen::Array<TestType, Eigen::Dynamic, 1> probs(3);
    probs << TestType(.4), TestType(.2), TestType(.4);
    for (const double temperature : {1e-300, 5e-324, 1e-40}) {
        CHECK(at<TestType>(temperature, probs)[0] == TestType(.5));
        CHECK(at<TestType>(temperature, probs)[2] == TestType(.5));
    }
}

TEMPLATE_TEST_CASE("a huge temperature makes possible tokens equally likely", "[shaping]", float, double) {
    Eigen::Array<TestType, Eigen::Dynamic, 1> probs(4);
    probs << TestType(.7), TestType(.2), TestType(.05), TestType(.05);
    for (const double temperature : {1e12, 1e40, 1e300}) {
        const auto shaped = at<TestType>(temperature, probs);
        CHECK(shaped.maxCoeff() - shaped.minCoeff() < TestType(1e-6));
    }
}

TEMPLATE_TEST_CASE("a row at any temperature sums to 1", "[shaping]", float, double) {
    const Eigen::Array<TestType, Eigen::Dynamic, 1> probs = softmax(logits_of(32000)).template cast<TestType>().array();
    for (const double temperature : {.01, .6, 1.7, 1e5})
        CHECK(std::abs(at<TestType>(temperature, probs).template cast<double>().sum() - 1) < 1e-6);
}

TEST_CASE("a row certain of one token stays certain", "[shaping]") {
    const Eigen::Array3d certain(0, 1, 0);
    for (const double temperature : {0., .5, 1., 3.}) CHECK(at<double>(temperature, certain)[1] == Approx(1));
}

TEST_CASE("a negative or non-finite temperature cannot be built", "[shaping]") {
    CHECK_THROWS_AS(Temperature(-1), std::invalid_argument);
    CHECK_THROWS_WITH(Temperature(-.1),
                      "specsample::Temperature: temperature is -0.1, but must be a finite number >= 0");
    CHECK_THROWS_WITH(Temperature(std::numeric_limits<double>::infinity()),
                      "specsample::Temperature: temperature is inf, but must be a finite number >= 0");
    CHECK_THROWS_AS(Temperature(std::nan("")), std::invalid_argument);
    CHECK_NOTHROW(Temperature(0));
}

TEMPLATE_TEST_CASE("an entry of probability 0 keeps it at every temperature", "[shaping]", float, double) {
    for (const double temperature : {0., 1e-300, .5, 1., 2., 1e9, 1e300}) {
        Eigen::Array<TestType, Eigen::Dynamic, 1> probs =
            Eigen::Array<TestType, Eigen::Dynamic, 1>::Constant(33, 1 / TestType(16));
        for (Index i = 0; i < 33; i += 2) probs[i] = 0;
        ShapingScratch scratch;
        Temperature{temperature}(probs, scratch);
        INFO("temperature " << temperature);
        for (Index i = 0; i < 33; i += 2) CHECK(probs[i] == 0);
        CHECK(std::abs(static_cast<double>(probs.sum()) - 1) < 1e-6);
    }
}

// softmax: against a double reference, over temperatures, and logits that are no distribution.
#include <specsample/kernels/softmax.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Logits in [-10, 10).
template <class Scalar>
std::vector<Scalar> logits_of(Index size, std::uint64_t seed = 1) {
    std::vector<Scalar> row;
    for (Index i = 0; i < size; ++i)
        row.push_back(static_cast<Scalar>(
            static_cast<float>(20 * Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i)) - 10)));
    return row;
}

template <class Scalar>
std::vector<double> reference(const std::vector<Scalar>& logits, double temperature) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const Scalar x : logits) largest = std::max(largest, static_cast<double>(x));
    std::vector<double> probs;
    long double sum = 0;
    for (const Scalar x : logits) {
        probs.push_back(std::exp((static_cast<double>(x) - largest) / temperature));
        sum += static_cast<long double>(probs.back());
    }
    for (double& p : probs) p /= static_cast<double>(sum);
    return probs;
}

/// Total variation.
template <class Probs>
double distance(const Probs& probs, const std::vector<double>& expected) {
    double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        sum += std::abs(static_cast<double>(probs[static_cast<Index>(i)]) - expected[i]);
    return sum / 2;
}

template <class Probs>
double total(const Probs& probs) {
    return probs.template cast<double>().sum();
}

}  // namespace

TEMPLATE_TEST_CASE("softmax agrees with a double reference at every temperature", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {1, 2, 31, 33, 513, 5000, 128256})
        for (const double temperature : {.05, .5, .7, 1., 1.3, 10., 1e6}) {
            const auto logits = logits_of<TestType>(size);
            INFO("size " << size << ", temperature " << temperature);
            // A float exponent x carries a relative error of |x| 2^-24: here |x| is at most 20 / .05.
            const double bound = std::is_same_v<TestType, double> ? 1e-12 : 1e-6 * std::max(1., 1 / temperature);
            CHECK(distance(softmax(logits, temperature), reference(logits, temperature)) < bound);
        }
}

TEMPLATE_TEST_CASE("softmax sums to 1", "[kernels]", float, double, Eigen::half) {
    for (const Index size : {1, 7, 513, 32000, 262144})
        for (const double temperature : {.1, 1., 5.}) {
            INFO("size " << size << ", temperature " << temperature);
            CHECK(std::abs(total(softmax(logits_of<TestType>(size), temperature)) - 1) < 1e-6);
        }
}

TEST_CASE("softmax without a temperature has temperature 1", "[kernels]") {
    const auto logits = logits_of<double>(10);
    CHECK(softmax(logits) == softmax(logits, 1));
    CHECK(softmax(logits) != softmax(logits, 1.01));
}

TEST_CASE("softmax knows closed forms", "[kernels]") {
    const auto probs = softmax(std::vector<double>{0, std::log(2.), std::log(5.)});
    CHECK(probs[0] == Approx(1. / 8).epsilon(1e-14));
    CHECK(probs[1] == Approx(2. / 8).epsilon(1e-14));
    CHECK(probs[2] == Approx(5. / 8).epsilon(1e-14));
    const auto cold = softmax(std::vector<double>{0, std::log(2.), std::log(5.)}, .5);
    CHECK(cold[2] == Approx(25. / 30).epsilon(1e-14));
}

TEST_CASE("a constant added to all logits changes nothing, however large", "[kernels]") {
    const auto probs = softmax(std::vector<double>{0, 1, 2});
    for (const double shift : {-1e6, 1024., 1e6}) {
        const auto moved = softmax(std::vector<double>{shift, shift + 1, shift + 2});
        CHECK(distance(moved, {probs[0], probs[1], probs[2]}) < 1e-15);
    }
    const auto extreme = softmax(std::vector<float>{3e38f, 3e38f, -3e38f});
    CHECK(extreme[0] == .5f);
}

TEMPLATE_TEST_CASE("temperature 0 is the argmax, lowest id on ties", "[kernels]", float, double, Eigen::half) {
    std::vector<TestType> logits(50, static_cast<TestType>(-1.f));
    logits[20] = logits[40] = static_cast<TestType>(3.f);
    const auto probs = softmax(logits, 0);
    CHECK(total(probs) == 1);
    CHECK(probs[20] == 1);
}

TEMPLATE_TEST_CASE("a tiny temperature is the argmax, ties shared", "[kernels]", float, double, Eigen::half) {
    std::vector<TestType> logits(50, static_cast<TestType>(-1.f));
    logits[20] = static_cast<TestType>(3.f);
    for (const double temperature : {1e-300, 5e-324, 1e-40}) {
        CHECK(softmax(logits, temperature)[20] == 1);
        auto tied = logits;
        tied[30] = tied[20];
        CHECK(softmax(tied, temperature)[20] == .5);
        CHECK(softmax(tied, temperature)[30] == .5);
    }
}

TEMPLATE_TEST_CASE("a huge temperature makes finite logits equally likely", "[kernels]", float, double, Eigen::half) {
    for (const double temperature : {1e9, 1e40, 1e300}) {
        const auto probs = softmax(logits_of<TestType>(64), temperature);
        CHECK(static_cast<double>(probs.maxCoeff() - probs.minCoeff()) < 1e-7);
        CHECK(std::abs(total(probs) - 1) < 1e-6);
    }
}

TEMPLATE_TEST_CASE("equal logits are equally likely at every temperature", "[kernels]", float, double, Eigen::half) {
    for (const double temperature : {1e-300, .5, 1., 1e300}) {
        const auto probs = softmax(std::vector<TestType>(32, static_cast<TestType>(-4.f)), temperature);
        for (Index i = 0; i < 32; ++i) CHECK(static_cast<double>(probs[i]) == 1. / 32);
    }
}

TEMPLATE_TEST_CASE("a single logit has probability 1", "[kernels]", float, double, Eigen::half) {
    for (const double temperature : {0., .5, 1.})
        CHECK(softmax(std::vector<TestType>{static_cast<TestType>(-70.f)}, temperature)[0] == 1);
}

TEST_CASE("a masked logit does not change the distribution of the others", "[kernels]") {
    std::vector<double> logits = logits_of<double>(40);
    for (std::size_t i = 0; i < 40; i += 3) logits[i] = -std::numeric_limits<double>::infinity();
    for (const double temperature : {.3, 1., 3.})
        CHECK(distance(softmax(logits, temperature), reference(logits, temperature)) < 1e-13);
}

TEMPLATE_TEST_CASE("logits without a distribution give an invalid row", "[kernels]", float, double, Eigen::half) {
    const auto is_distribution = [](const auto& probs) { return std::abs(total(probs) - 1) < 1e-2; };
    for (const double temperature : {0., 1e-300, .5, 1.})
        for (const std::size_t size : {1u, 4u, 33u}) {
            INFO("temperature " << temperature << ", size " << size);
            CHECK_FALSE(
                is_distribution(softmax(std::vector<TestType>(size, static_cast<TestType>(-infinity)), temperature)));
            for (std::size_t at = 0; at < size; ++at) {
                std::vector<TestType> logits(size, static_cast<TestType>(1.f));
                logits[at] = static_cast<TestType>(std::nanf(""));
                CHECK_FALSE(is_distribution(softmax(logits, temperature)));
                if (temperature == 0) continue;  // the argmax of +inf is a token
                logits[at] = static_cast<TestType>(infinity);
                CHECK_FALSE(is_distribution(softmax(logits, temperature)));
            }
        }
}

TEST_CASE("no logits give no probabilities", "[kernels]") {
    CHECK(softmax(std::vector<float>()).size() == 0);
    CHECK(softmax(Eigen::VectorXd(), 0).size() == 0);
}

TEST_CASE("a negative or non-finite temperature is refused", "[kernels]") {
    const std::vector<float> logits{1, 2};
    CHECK_THROWS_AS(softmax(logits, -1), std::invalid_argument);
    CHECK_THROWS_WITH(softmax(logits, -.5),
                      "specsample::softmax: temperature is -0.5, but must be a finite number >= 0");
    CHECK_THROWS_WITH(softmax(logits, std::numeric_limits<double>::infinity()),
                      "specsample::softmax: temperature is inf, but must be a finite number >= 0");
    CHECK_THROWS_AS(softmax(logits, std::nan("")), std::invalid_argument);
}

TEST_CASE("a row is double for double logits and float for all others", "[kernels]") {
    CHECK(std::is_same_v<decltype(softmax(Eigen::VectorXd())), Eigen::VectorXd>);
    CHECK(std::is_same_v<decltype(softmax(std::vector<float>())), Eigen::VectorXf>);
    CHECK(std::is_same_v<decltype(softmax(std::span<const Eigen::bfloat16>())), Eigen::VectorXf>);
}

TEST_CASE("logits of every layout have the probabilities of their copy", "[kernels]") {
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(3, 100);
    const Eigen::VectorXf copy = matrix.row(1);
    CHECK(softmax(matrix.row(1), .7) == softmax(copy, .7));
    CHECK(softmax(std::vector<float>(copy.begin(), copy.end()), .7) == softmax(copy, .7));
}

TEST_CASE("an expression has the softmax of its copy", "[kernels]") {
    const Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(3, 100);
    CHECK(softmax(matrix.row(1) * 2.f, .7) == softmax(Eigen::VectorXf(matrix.row(1) * 2.f), .7));
}

TEMPLATE_TEST_CASE("a masked logit has probability exactly 0", "[kernels]", float, double, Eigen::half) {
    for (const std::size_t size : {2u, 4u, 5u, 8u, 33u, 513u})
        for (const double temperature : {1e-300, .5, 1., 2., 1e9, 1e300}) {
            std::vector<TestType> logits(size, static_cast<TestType>(.5f));
            for (std::size_t i = 0; i < size; i += 2) logits[i] = static_cast<TestType>(-INFINITY);
            const auto probs = softmax(logits, temperature);
            INFO("size " << size << ", temperature " << temperature);
            for (std::size_t i = 0; i < size; i += 2) CHECK(probs[static_cast<Index>(i)] == 0);
            CHECK(probs[1] > 0);
        }
}

TEMPLATE_TEST_CASE("a tiny temperature leaves the others exactly 0", "[kernels]", float, double) {
    std::vector<TestType> logits(33, static_cast<TestType>(-1.f));
    logits[20] = 3;
    const auto probs = softmax(logits, 1e-300);
    for (Index i = 0; i < 33; ++i) CHECK(probs[i] == (i == 20));
}

// The entropy of a row.
#include <specsample/kernels/entropy.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

/// A distribution with zeros, in double, rounded to a scalar.
template <class Scalar>
std::vector<Scalar> distribution(Index size, std::uint64_t seed) {
    std::vector<double> weights(static_cast<std::size_t>(size));
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double u = Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i));
        sum += weights[i] = i % 5 == 3 ? 0 : std::pow(u, 6);
    }
    std::vector<Scalar> row;
    for (const double w : weights) row.push_back(static_cast<Scalar>(static_cast<float>(w / sum)));
    return row;
}

template <class P>
double reference(const P& p) {
    long double sum = 0;
    for (const auto entry : p) {
        const auto x = static_cast<long double>(static_cast<double>(entry));
        if (x > 0) sum -= x * std::log(x);
    }
    return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("entropies of rows that can be written down", "[kernels]") {
    CHECK(entropy(std::vector<double>{.5, .25, .25}) == Approx(1.5 * std::log(2.)).epsilon(1e-15));
    CHECK(entropy(Eigen::Vector4f(0, 1, 0, 0)) == 0);
    CHECK_FALSE(std::signbit(entropy(Eigen::Vector4f(0, 1, 0, 0))));
    CHECK(entropy(std::vector<float>()) == 0);
    for (const Index size : {1, 2, 64, 511, 512, 513, 131072}) {
        INFO("size " << size);
        const double vocab = static_cast<double>(size);
        CHECK(entropy(Eigen::VectorXd::Constant(size, 1 / vocab)) == Approx(std::log(vocab)).margin(1e-12));
        CHECK(entropy(Eigen::VectorXf::Constant(size, static_cast<float>(1 / vocab))) ==
              Approx(std::log(vocab)).margin(2e-6));
    }
}

TEMPLATE_TEST_CASE("the entropy bounds the logarithm of an entry by that of the smallest normal number, and no more",
                   "[kernels]", float, double) {
    constexpr TestType least = std::numeric_limits<TestType>::min();
    for (const TestType below :
         {std::numeric_limits<TestType>::denorm_min(), least / 1024, least / 2, least / 2 * 1.5f}) {
        const double found = entropy(std::vector<TestType>{1, below});
        CHECK(found >= 0);
        CHECK(found <= reference(std::vector<TestType>{1, below}) * 1.01);
    }
    for (const TestType above : {least * 1024, least * 0x1p20f, TestType(1e-30), TestType(1e-6)}) {
        const double expected = reference(std::vector<TestType>{1, above});
        CHECK(entropy(std::vector<TestType>{1, above}) == Approx(expected).epsilon(1e-5));
    }
}

TEMPLATE_TEST_CASE("the entropy agrees with a long double reference at every size", "[kernels]", float, double,
                   Eigen::half, Eigen::bfloat16) {
    for (const Index size : {1, 31, 32, 33, 511, 512, 513, 5000}) {
        const auto p = distribution<TestType>(size, 1);
        INFO("size " << size);
        CHECK(entropy(p) == Approx(reference(p)).epsilon(std::is_same_v<TestType, double> ? 1e-13 : 2e-6).margin(1e-7));
    }
}

TEST_CASE("rows of logits, sparse and strided rows have the entropy of their probabilities", "[kernels]") {
    const auto p = distribution<double>(1000, 7);
    const double expected = reference(p);

    Eigen::VectorXd logits(1000);
    std::vector<int> ids;
    std::vector<double> held;
    Eigen::MatrixXd matrix(2, 1000);
    for (Index i = 0; i < 1000; ++i) {
        const double prob = p[static_cast<std::size_t>(i)];
        logits[i] = 3 + .7 * std::log(prob);
        matrix(1, i) = prob;
        if (prob == 0) continue;
        ids.push_back(static_cast<int>(i));
        held.push_back(prob);
    }
    CHECK(entropy(Logits(logits, .7)) == Approx(expected).epsilon(1e-7));
    CHECK(entropy(detail::as_row(Logits(logits, .7))) == entropy(Logits(logits, .7)));
    CHECK(entropy(Sparse(ids, held, 1000)) == Approx(expected).epsilon(1e-13));
    CHECK(entropy(matrix.row(1)) == entropy(p));
    CHECK(entropy(Logits(logits, 0)) == 0);
}

TEST_CASE("a NaN or a negative entry in a row makes its entropy NaN", "[kernels]") {
    for (const std::size_t place : {0u, 63u, 64u, 600u, 999u})
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -1e-30f, -.5f}) {
            auto p = distribution<float>(1000, 3);
            p[place] = bad;
            INFO("place " << place << ", " << bad);
            CHECK(detail::is_nan(entropy(p)));
        }
    CHECK(entropy(std::vector<float>{-0.f, 1, 0}) == 0);
}

// The overlap of two rows.
#include <specsample/kernels/overlap.hpp>

#include <cmath>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

/// A distribution in double, rounded to a scalar.
template <class Scalar>
std::vector<Scalar> distribution(Index size, std::uint64_t seed) {
    std::vector<double> weights(static_cast<std::size_t>(size));
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        sum += weights[i] = Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i));
    std::vector<Scalar> row;
    for (const double w : weights) row.push_back(static_cast<Scalar>(static_cast<float>(w / sum)));
    return row;
}

template <class P, class Q>
double reference(const P& p, const Q& q) {
    long double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        sum += static_cast<long double>(std::min(static_cast<double>(p[i]), static_cast<double>(q[i])));
    return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("the running examples overlap by 7/10 and 2/3", "[kernels]") {
    CHECK(overlap(std::vector<double>{.5, .3, .2}, std::vector<double>{.2, .3, .5}) == Approx(.7).epsilon(1e-15));
    CHECK(overlap(Eigen::Vector2d(1. / 3, 2. / 3), Eigen::Vector2d(2. / 3, 1. / 3)) == Approx(2. / 3).epsilon(1e-15));
}

TEST_CASE("equal rows overlap fully, disjoint rows not at all", "[kernels]") {
    CHECK(overlap(Eigen::Vector4f(.25f, .25f, .5f, 0), Eigen::Vector4f(.25f, .25f, .5f, 0)) == 1);
    CHECK(overlap(Eigen::Vector4f(.5f, .5f, 0, 0), Eigen::Vector4f(0, 0, .5f, .5f)) == 0);
}

TEMPLATE_TEST_CASE("the overlap agrees with a long double reference at every size", "[kernels]", float, double) {
    for (const Index size : {1, 31, 32, 33, 511, 512, 513, 5000, 128256}) {
        const auto p = distribution<TestType>(size, 1), q = distribution<TestType>(size, 2);
        INFO("size " << size);
        CHECK(overlap(p, q) == Approx(reference(p, q)).epsilon(std::is_same_v<TestType, float> ? 1e-6 : 1e-13));
        CHECK(overlap(p, q) == overlap(q, p));
    }
}

TEST_CASE("rows of different scalars and layouts overlap", "[kernels]") {
    const auto p = distribution<float>(1000, 1);
    const auto q = distribution<Eigen::half>(1000, 2);
    const auto d = distribution<double>(1000, 2);
    CHECK(overlap(p, q) == Approx(reference(p, q)).epsilon(1e-6));
    CHECK(overlap(p, d) == Approx(reference(p, d)).epsilon(1e-13));
    CHECK(overlap(d, q) == Approx(reference(d, q)).epsilon(1e-13));
    Eigen::MatrixXd matrix(2, 1000);
    for (Index i = 0; i < 1000; ++i) matrix(1, i) = d[static_cast<std::size_t>(i)];
    CHECK(overlap(matrix.row(1), p) == overlap(d, p));
}

TEST_CASE("empty rows do not overlap", "[kernels]") { CHECK(overlap(std::vector<float>(), std::vector<float>()) == 0); }

TEST_CASE("rows of different sizes are refused with both sizes", "[kernels]") {
    CHECK_THROWS_AS(overlap(Eigen::Vector3d::Zero(), Eigen::Vector2f::Zero()), std::invalid_argument);
    CHECK_THROWS_WITH(overlap(Eigen::Vector3d::Zero(), Eigen::Vector2f::Zero()),
                      "specsample::overlap: the second row's size is 2, but must be the first row's, 3");
}

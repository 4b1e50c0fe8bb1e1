// acceptance and total_variation of two rows, for every kind of row.
#include <specsample/theory/acceptance.hpp>

#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

using specsample::theory::acceptance;
using specsample::theory::total_variation;

TEST_CASE("acceptance of the running examples is sum min(p, q)", "[analysis]") {
    const std::vector<double> p3{.5, .3, .2}, q3{.2, .3, .5};
    CHECK(acceptance(q3, p3) == Approx(.7).epsilon(1e-14));
    CHECK(total_variation(q3, p3) == Approx(.3).epsilon(1e-14));

    const std::vector<double> toy_target{1. / 3, 2. / 3}, toy_draft{2. / 3, 1. / 3};
    CHECK(acceptance(toy_draft, toy_target) == Approx(2. / 3).epsilon(1e-14));

    const std::vector<double> seed_target{.3, .2, .1, .4}, seed_draft{.25, .35, .1, .3};
    CHECK(acceptance(seed_draft, seed_target) == Approx(17. / 20).epsilon(1e-14));
}

TEST_CASE("acceptance takes Eigen vectors, expressions, maps, spans and arrays", "[analysis]") {
    const Eigen::Vector3d p(.5, .3, .2);
    const Eigen::RowVector3d q(.2, .3, .5);
    const std::array<double, 3> memory{.2, .3, .5};
    const specsample::RowMajorMatrix<double> rows = q.replicate(2, 1);
    CHECK(acceptance(q, p) == Approx(.7).epsilon(1e-14));
    CHECK(acceptance(rows.row(1), p) == Approx(.7).epsilon(1e-14));
    CHECK(acceptance(0.5 * (p + q.transpose()), p) == Approx(.85).epsilon(1e-14));
    CHECK(acceptance(Eigen::Map<const Eigen::VectorXd>(memory.data(), 3), p) == Approx(.7).epsilon(1e-14));
    CHECK(acceptance(std::span<const double>(memory), p) == Approx(.7).epsilon(1e-14));
    CHECK(acceptance(p, memory) == Approx(.7).epsilon(1e-14));
    CHECK(total_variation(std::span<const double>(memory), p) == Approx(.3).epsilon(1e-14));
}

TEST_CASE("acceptance is symmetric, 1 for equal rows and 0 for disjoint ones", "[analysis]") {
    const std::vector<float> p{.1f, .9f, 0.f}, q{.6f, .4f, 0.f}, other{0.f, 0.f, 1.f};
    CHECK(acceptance(q, p) == acceptance(p, q));
    CHECK(acceptance(p, p) == Approx(1.).epsilon(1e-7));
    CHECK(acceptance(other, p) == 0.);
    CHECK(total_variation(other, p) == 1.);
}

TEST_CASE("acceptance stays between 0 and 1 when the rows round above it", "[analysis]") {
    const std::vector<double> high{.5, .5 + 1e-7};
    CHECK(acceptance(high, high) == 1.);
    CHECK(total_variation(high, high) == 0.);
}

TEST_CASE("acceptance refuses rows of different sizes", "[analysis]") {
    const std::vector<double> p{.5, .5}, q{.2, .3, .5};
    CHECK_THROWS_AS(acceptance(q, p), std::invalid_argument);
    CHECK_THROWS_WITH(total_variation(q, p), ContainsSubstring("specsample::overlap: ") && ContainsSubstring("size"));
}

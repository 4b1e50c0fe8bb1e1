// Two races with one noise: exact marginals, known numbers, and races by simulation.
#include <specsample/testing/shared_race.hpp>

#include <cmath>
#include <vector>

#include <specsample/kernels/race.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const Eigen::VectorXd ex3_target = Eigen::Vector3d(.5, .3, .2), ex3_draft = Eigen::Vector3d(.2, .3, .5);

/// A distribution, a share of it zero, others far apart.
Eigen::VectorXd random_row(Index size, std::uint64_t seed, double zeros, double power) {
    const Rng noise({.seed = seed});
    Eigen::VectorXd row(size);
    for (Index i = 0; i < size; ++i) {
        const auto lane = static_cast<std::uint32_t>(i);
        row[i] = noise.uniform(lane + 1000) < zeros ? 0 : std::pow(noise.open_uniform(lane), power);
    }
    if (!(row.sum() > 0)) row[0] = 1;
    return row / row.sum();
}

/// Call f(q, p) for random pairs of 1 to 6 ids.
template <class F>
void for_pairs(F&& f) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const auto size = static_cast<Index>(1 + seed % 6);
        const double zeros = seed % 3 == 0 ? 0 : .35, power = seed % 4 == 0 ? 10 : 1;
        INFO("seed " << seed);
        f(random_row(size, seed, zeros, power), random_row(size, seed + 10000, zeros, 1));
    }
}

/// P(m and j win) for all pairs.
Eigen::MatrixXd joint(const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
    Eigen::MatrixXd result(q.size(), p.size());
    for (Index m = 0; m < q.size(); ++m)
        for (Index j = 0; j < p.size(); ++j) result(m, j) = both_win(q, m, p, j);
    return result;
}

}  // namespace

TEST_CASE("each winner of a shared race has the distribution of its own row", "[testing]") {
    for_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        const Eigen::MatrixXd distribution = joint(q, p);
        CHECK(distribution.minCoeff() >= 0);
        CHECK((distribution.rowwise().sum() - q).cwiseAbs().maxCoeff() < 1e-13);
        CHECK((distribution.colwise().sum().transpose() - p).cwiseAbs().maxCoeff() < 1e-13);
    });
}

TEST_CASE("a shared race does not know which row is first, and names ids by nothing but their place", "[testing]") {
    for_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        CHECK((joint(q, p) - joint(p, q).transpose()).cwiseAbs().maxCoeff() < 1e-13);
        CHECK((joint(q.reverse(), p.reverse()) - joint(q, p).reverse()).cwiseAbs().maxCoeff() < 1e-13);
    });
}

TEST_CASE("one row against itself always has one winner", "[testing]") {
    for_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd&) {
        const Eigen::MatrixXd distribution = joint(q, q);
        CHECK((distribution.diagonal() - q).cwiseAbs().maxCoeff() < 1e-14);
        CHECK(distribution.sum() == Approx(1).epsilon(1e-13));
    });
}

TEST_CASE("the agreement of a shared race in the running examples", "[testing]") {
    CHECK(joint(ex3_draft, ex3_target).diagonal().sum() == Approx(41. / 65).epsilon(1e-14));
    const Eigen::Vector2d toy_target(1. / 3, 2. / 3), toy_draft(2. / 3, 1. / 3);
    CHECK(joint(toy_draft, toy_target).diagonal().sum() == Approx(2. / 3).epsilon(1e-14));
}

TEST_CASE("a shared race agrees with (1 - TV) / (1 + TV) at least and 1 - TV at most", "[testing]") {
    for_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        const double agreement = joint(q, p).diagonal().sum(), tv = (q - p).cwiseAbs().sum() / 2;
        CHECK(agreement >= (1 - tv) / (1 + tv) - 1e-13);
        CHECK(agreement <= 1 - tv + 1e-13);
        double formula = 0;
        for (Index i = 0; i < q.size(); ++i)
            if (q[i] > 0 && p[i] > 0) formula += 1 / (q / q[i]).cwiseMax(p / p[i]).sum();
        CHECK(agreement == Approx(formula).margin(1e-14));
    });
}

TEST_CASE("an id without weight wins nothing, and disjoint rows win by themselves", "[testing]") {
    const Eigen::Vector3d q(.5, .5, 0), p(0, .25, .75);
    CHECK(both_win(q, 2, p, 1) == 0);
    CHECK(both_win(q, 1, p, 0) == 0);
    const Eigen::Vector4d left(.3, .7, 0, 0), right(0, 0, .4, .6);
    CHECK((joint(left, right) - Eigen::MatrixXd(left * right.transpose())).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("the second winner given the first is a distribution", "[testing]") {
    for_pairs([](const Eigen::VectorXd& q, const Eigen::VectorXd& p) {
        for (Index m = 0; m < q.size(); ++m) {
            if (!(q[m] > 0)) continue;
            const Eigen::VectorXd second = winner_given(q, m, p);
            CHECK(second.minCoeff() >= 0);
            CHECK(second.sum() == Approx(1).epsilon(1e-11));
            CHECK((second * q[m] - joint(q, p).row(m).transpose()).cwiseAbs().maxCoeff() < 1e-14);
        }
    });
}

TEST_CASE("races with shared noise have this joint distribution", "[testing]") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Eigen::VectorXd q = seed == 0 ? ex3_draft : random_row(4, seed, .2, 2);
        const Eigen::VectorXd p = seed == 0 ? ex3_target : random_row(4, seed + 70, .2, 1);
        const int races = 100000;
        Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(q.size(), p.size());
        for (int i = 0; i < races; ++i) {
            const Rng random({.seed = seed, .position = i, .purpose = Purpose::race});
            counts(race(random, RowWeights(detail::as_row(q))), race(random, RowWeights(detail::as_row(p)))) += 1;
        }
        const Eigen::MatrixXd distribution = joint(q, p);
        INFO("seed " << seed);
        for (Index m = 0; m < q.size(); ++m)
            for (Index j = 0; j < p.size(); ++j) {
                const double mean = distribution(m, j) * races;
                // Six standard deviations and a bit for rare cells: a false alarm in 1e8 per cell at most.
                CHECK(std::abs(counts(m, j) - mean) <= (mean > 0 ? 6 * std::sqrt(mean) + 12 : 0));
            }
    }
}

// The exponential race: its distribution, its order, its ties, and that skipping logarithms does not change the winner.
#include <specsample/kernels/race.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <specsample/random/draw.hpp>
#include <specsample/testing/distribution.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace cases;
using namespace specsample::kernels;

namespace {

using Numbers = std::vector<double>;
using Ids = std::vector<Token>;

/// Uniform numbers of a seed, a lane per id.
auto noise_of(std::uint64_t seed) {
    return [rng = Rng({.seed = seed})](std::uint32_t lane) { return rng.open_uniform(lane); };
}

/// The same, in the form that a race calls.
template <class F>
auto for_lanes(const F& noise) {
    return [&noise](std::span<const std::uint32_t> lanes, double* uniforms) {
        for (const std::uint32_t lane : lanes) *uniforms++ = noise(lane);
    };
}

template <class R, class F>
Index winner(const R& row, const F& noise) {
    return race_winner(RowWeights(detail::as_row(row)), for_lanes(noise));
}

template <class R, class F>
Ids winners(const R& row, const F& noise, std::size_t places, Numbers* times = nullptr) {
    Ids ids(places, -7);
    Numbers arrivals(places, -7);
    const Index found = race_winners(RowWeights(detail::as_row(row)), for_lanes(noise), ids, arrivals);
    REQUIRE(found >= 0);
    for (auto i = static_cast<std::size_t>(found); i < places; ++i) CHECK(ids[i] == -7);
    ids.resize(static_cast<std::size_t>(found));
    arrivals.resize(static_cast<std::size_t>(found));
    if (times != nullptr) *times = arrivals;
    return ids;
}

/// All ids of positive weight by -ln u / w, every logarithm taken.
template <class R, class F>
Ids naive(const R& row, const F& noise) {
    const auto view = detail::as_row(row);
    std::vector<std::pair<double, Token>> arrivals;
    for (Index i = 0; i < view.size(); ++i)
        if (const double w = static_cast<double>(view.coeff(i)); w > 0)
            arrivals.emplace_back(-std::log(noise(static_cast<std::uint32_t>(i))) / w, static_cast<Token>(i));
    std::ranges::sort(arrivals);
    Ids ids;
    for (const auto& [time, id] : arrivals) ids.push_back(id);
    return ids;
}

Eigen::VectorXd random_row(Index size, std::uint64_t seed, double zeros, double power) {
    const Rng noise({.seed = seed});
    Eigen::VectorXd row(size);
    for (Index i = 0; i < size; ++i) {
        const auto lane = static_cast<std::uint32_t>(i);
        row[i] = noise.uniform(lane + 100000) < zeros ? 0 : std::pow(noise.open_uniform(lane), power);
    }
    return row / std::max(row.sum(), 1e-300);
}

/// Counts of f(noise) in many races against a distribution.
template <class F>
ChiSquare races(const TextDistribution& distribution, int samples, const F& f) {
    TextDistribution observed;
    for (int i = 0; i < samples; ++i) ++observed[f(noise_of(static_cast<std::uint64_t>(i) + 1000))];
    return chi_square(observed, distribution, samples);
}

/// The distribution of an ordered draw without replacement.
TextDistribution without_replacement(const Eigen::VectorXd& row, std::size_t places) {
    TextDistribution distribution;
    Enumerator().run([&](Enumerator& paths) {
        Eigen::VectorXd left = row;
        Ids ids;
        while (ids.size() < places && left.sum() > 0) {
            const Eigen::VectorXd rates = left / left.sum();
            ids.push_back(static_cast<Token>(paths.choose({rates.begin(), rates.end()})));
            left[ids.back()] = 0;
        }
        distribution[ids] += paths.probability();
    });
    return distribution;
}

}  // namespace

TEST_CASE("an id wins in proportion to its weight", "[kernels]") {
    for (const auto& weights : {row({.5, .3, .2}), row({3, 1, 0, 4}), row({1}), row({0, 1e-9, 2e-9})}) {
        TextDistribution distribution;
        for (Index i = 0; i < weights.size(); ++i)
            if (weights[i] > 0) distribution[{static_cast<Token>(i)}] = weights[i] / weights.sum();
        CHECK(races(distribution, 60000, [&](const auto& noise) {
                  return Ids{static_cast<Token>(winner(weights, noise))};
              }).holds());
    }
}

TEST_CASE("winners come in the order of a draw without replacement", "[kernels]") {
    for (const auto& weights : {row({.5, .3, .2}), row({.1, .0, .6, .3}), row({.25, .25, .25, .25})})
        for (std::size_t places = 1; places <= 4; ++places) {
            const auto distribution = without_replacement(weights, places);
            CHECK(
                races(distribution, 40000, [&](const auto& noise) { return winners(weights, noise, places); }).holds());
        }
}

TEST_CASE("an id of weight zero never arrives, and there are no more winners than ids", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Ids ids = winners(row({0, .5, 0, .5, 0}), noise_of(seed), 4);
        REQUIRE(ids.size() == 2);
        REQUIRE((ids == Ids{1, 3} || ids == Ids{3, 1}));
    }
    CHECK(winners(row({0, 0}), noise_of(1), 2).empty());
    CHECK(winner(row({0, 0}), noise_of(1)) == -1);
    CHECK(winner(Eigen::VectorXd(), noise_of(1)) == -1);
}

TEST_CASE("arrivals come back in ascending order, as -ln u / w", "[kernels]") {
    const Eigen::VectorXd weights = random_row(300, 4, .2, 3);
    const auto noise = noise_of(8);
    Numbers arrivals;
    const Ids ids = winners(weights, noise, 20, &arrivals);
    REQUIRE(ids.size() == 20);
    CHECK(std::ranges::is_sorted(arrivals));
    for (std::size_t i = 0; i < ids.size(); ++i)
        CHECK(arrivals[i] == -std::log(noise(static_cast<std::uint32_t>(ids[i]))) / weights[ids[i]]);
}

TEST_CASE("a weight that is no weight ends the race", "[kernels]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, infinity, -infinity, -.1, -1e-300})
        for (Index at = 0; at < 3; ++at) {
            Eigen::VectorXd weights = row({.4, .3, .3});
            weights[at] = bad;
            std::array<Token, 2> ids{};
            std::array<double, 2> arrivals{};
            CHECK(winner(weights, noise_of(3)) == -1);
            CHECK(race_winners(RowWeights(detail::as_row(weights)), for_lanes(noise_of(3)), ids, arrivals) == -1);
        }
    CHECK(winner(row({-0., 1}), noise_of(3)) == 1);
}

TEST_CASE("equal arrivals go to the lowest id", "[kernels]") {
    const auto same = [](std::uint32_t) { return .37; };
    CHECK(winner(row({.2, .2, .2}), same) == 0);
    CHECK(winners(row({.2, .2, .2, .2}), same, 3) == Ids{0, 1, 2});
    CHECK(winners(row({.1, .2, .1, .2}), same, 4) == Ids{1, 3, 0, 2});
    CHECK(winners(row({.1, .2, .1, .2}), same, 3) == Ids{1, 3, 0});
}

TEST_CASE("the logarithms that are skipped never change a winner", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        for (const double power : {1., 4., 20.}) {
            const Eigen::VectorXd weights = random_row(400, seed, .3, power);
            const auto noise = noise_of(seed + 5000);
            const Ids all = naive(weights, noise);
            REQUIRE(winner(weights, noise) == all.front());
            for (const std::size_t places : {1u, 2u, 7u})
                REQUIRE(winners(weights, noise, places) == Ids(all.begin(), all.begin() + Index(places)));
        }
}

TEST_CASE("the logarithms that are skipped decide nothing where the arrivals nearly tie", "[kernels]") {
    // u near 1, where -ln u and 1 - u agree to the last bits, and near 0, where they are far apart.
    const std::array near{1 - 0x1p-54, 1 - 3 * 0x1p-54, 1 - 0x1p-52, 1 - 0x1p-40, .5, 0x1p-53, 0x1p-54};
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Rng pick({.seed = seed});
        const auto noise = [&](std::uint32_t lane) { return near[pick.bits(lane) % near.size()]; };
        Eigen::VectorXd weights(12);
        for (Index i = 0; i < 12; ++i)
            weights[i] = std::nextafter(.1, pick.bits(static_cast<std::uint32_t>(i) + 50) % 2 == 0 ? 0. : 1.);
        const Ids all = naive(weights, noise);
        REQUIRE(winner(weights, noise) == all.front());
        REQUIRE(winners(weights, noise, 5) == Ids(all.begin(), all.begin() + 5));
    }
}

TEST_CASE("few ids need a logarithm and none without weight needs noise", "[kernels]") {
    long asked = 0;
    const auto counted = [&](std::uint32_t lane) {
        ++asked;
        return noise_of(3)(lane);
    };
    winner(row({0, .5, 0, .25, .25, 0}), counted);
    CHECK(asked == 3);
}

TEST_CASE("a race is that of its ids, in any type of row", "[kernels]") {
    const std::vector<float> weights{.25f, .5f, .125f, .125f};
    Eigen::MatrixXd matrix(2, 4);
    matrix << 0, 0, 0, 0, .25, .5, .125, .125;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto noise = noise_of(seed);
        REQUIRE(winner(weights, noise) == winner(matrix.row(1), noise));
        REQUIRE(winner(weights, noise) == winner((8 * matrix.row(1)).eval(), noise));  // no sum: any scale
        REQUIRE(winner(weights, noise) == race(Rng({.seed = seed}), RowWeights(detail::as_row(weights))));
        Ids ids(3);
        Numbers arrivals(3);
        REQUIRE(race(Rng({.seed = seed}), RowWeights(detail::as_row(weights)), ids, arrivals) == 3);
        REQUIRE(ids == winners(weights, noise, 3));
    }
}

// The exponential race: its distribution, its order, its ties, and that skipping logarithms does not change the winner.
#include <specsample/kernels/race.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <specsample/random/draw.hpp>
#include <specsample/rows/sparse.hpp>
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

/// The time of an id by the definition: the smallest time of its block, and if another id has that one, a time of its
/// own after it.
template <class F>
double time_of(std::uint32_t id, const F& noise) {
    const auto bits = static_cast<std::uint64_t>(noise(0x8000'0000u + id / 64) * 0x1p52);
    const double least = -std::log((static_cast<double>(bits / 64) + .5) / 0x1p46) / 64;
    return id % 64 == bits % 64 ? least : least - std::log(noise(id));
}

/// All ids of positive weight by the definition, every logarithm taken.
template <class R, class F>
Ids naive(const R& row, const F& noise) {
    const auto view = detail::as_row(row);
    std::vector<std::pair<double, Token>> arrivals;
    for (Index i = 0; i < view.size(); ++i)
        if (const double w = static_cast<double>(view.coeff(i)); w > 0)
            arrivals.emplace_back(time_of(static_cast<std::uint32_t>(i), noise) / w, static_cast<Token>(i));
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

TEST_CASE("the block's noise: any id may be the first, whatever the time", "[kernels]") {
    // Every value of the last 12 of the 52 bits, under several first 40.
    for (const std::uint64_t upper : {std::uint64_t{0}, std::uint64_t{0x55'5555'5555}, std::uint64_t{0xff'ffff'ffff}}) {
        std::vector<std::vector<double>> times(64);
        for (std::uint64_t lower = 0; lower < 4096; ++lower) {
            const detail::BlockNoise noise((static_cast<double>(upper << 12 | lower) + .5) * 0x1p-52);
            REQUIRE(noise.first >= 0);
            REQUIRE(noise.first < 64);
            REQUIRE(noise.least > 0);
            times[static_cast<std::size_t>(noise.first)].push_back(noise.least);
        }
        for (const Numbers& of_one : times) {
            CHECK(of_one.size() == 64);
            CHECK(of_one == times.front());  // the same times in the same order
            CHECK(std::ranges::adjacent_find(of_one) == of_one.end());
        }
    }
}

TEST_CASE("the block's noise has the distribution of independent exponential times", "[kernels]") {
    // P(E_i > t_i for all i) is exp(-sum t_i) for independent times. By the definition of the noise it is
    //     1/n sum_j integral over m > t_j of n exp(-n m) product over i != j of exp(-max(t_i - m, 0)),
    // an exponential of a linear function between the sorted t_i.
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const std::size_t n : {1u, 2u, 3u, 7u, 64u}) {
            const auto noise = noise_of(seed);
            Numbers times(n);
            for (std::size_t i = 0; i < n; ++i)
                times[i] = -2 * std::log(noise(static_cast<std::uint32_t>(i))) / double(n);
            Numbers corners = times;
            std::ranges::sort(corners);
            const auto size = static_cast<double>(n);
            double probability = 0, sum = 0;
            for (const double t : times) sum += t;
            for (const double first : times)  // t_j, of the id with the smallest time
                for (std::size_t k = 0; k < n; ++k) {
                    if (corners[k] < first) continue;
                    // From corner k to the next, the ids with later times, n - 1 - k of them, are still to be waited
                    // for.
                    const double to = k + 1 < n ? corners[k + 1] : std::numeric_limits<double>::infinity();
                    const auto waiting = static_cast<double>(n - 1 - k);
                    double later = 0;
                    for (std::size_t i = k + 1; i < n; ++i) later += corners[i];
                    const auto at = [&](double m) { return std::exp(-later - (size - waiting) * m); };
                    probability += (at(corners[k]) - at(to)) / (size - waiting);
                }
            CHECK(std::abs(probability - std::exp(-sum)) < 1e-12);
        }
}

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

TEST_CASE("arrivals come back in ascending order, as E / w", "[kernels]") {
    const Eigen::VectorXd weights = random_row(300, 4, .2, 3);
    const auto noise = noise_of(8);
    Numbers arrivals;
    const Ids ids = winners(weights, noise, 20, &arrivals);
    REQUIRE(ids.size() == 20);
    CHECK(std::ranges::is_sorted(arrivals));
    for (std::size_t i = 0; i < ids.size(); ++i)
        CHECK(arrivals[i] == time_of(static_cast<std::uint32_t>(ids[i]), noise) / weights[ids[i]]);
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
    // Every block and every id has the same noise, so that id 37 is the first of its block and the others are equal.
    const auto same = [](std::uint32_t lane) { return lane < 0x8000'0000u ? .37 : (64 * 5 + 37 + .5) / 0x1p52; };
    const auto rows = [](Index size) { return Eigen::VectorXd::Constant(size, .125).eval(); };
    CHECK(winner(rows(3), same) == 0);
    CHECK(winners(rows(4), same, 3) == Ids{0, 1, 2});
    CHECK(winners(row({.1, .2, .1, .2}), same, 4) == Ids{1, 3, 0, 2});
    CHECK(winners(row({.1, .2, .1, .2}), same, 3) == Ids{1, 3, 0});
    CHECK(winners(rows(5000), same, 4) == Ids{37, 64 + 37, 128 + 37, 192 + 37});
    Eigen::VectorXd late = rows(5000);
    late.tail(4000) *= 2;
    CHECK(winners(late, same, 2) == Ids{1000 + 61, 1000 + 125});  // 1061 = 64 * 16 + 37
}

TEST_CASE("the logarithms that are skipped never change a winner", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        for (const double power : {1., 4., 20.}) {
            const Eigen::VectorXd weights = random_row(seed % 10 == 0 ? 5000 : 400, seed, .3, power);
            const auto noise = noise_of(seed + 5000);
            const Ids all = naive(weights, noise);
            REQUIRE(winner(weights, noise) == all.front());
            for (const std::size_t places : {1u, 2u, 7u})
                REQUIRE(winners(weights, noise, places) == Ids(all.begin(), all.begin() + Index(places)));
        }
}

TEST_CASE("the logarithms that are skipped decide nothing where the arrivals nearly tie", "[kernels]") {
    // u near 1, where -ln u and 1 - u agree to the last bits, and near 0, where they are far apart.
    const std::array near{1 - 0x1p-53, 1 - 3 * 0x1p-53, 1 - 7 * 0x1p-53, 1 - 0x1p-40, .5, 3 * 0x1p-53, 0x1p-53};
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

TEST_CASE("few blocks need noise for their ids, and none without weight needs any", "[kernels]") {
    long ids = 0, blocks = 0;
    const auto counted = [&](std::uint32_t lane) {
        ++(lane < 0x8000'0000u ? ids : blocks);
        return noise_of(3)(lane);
    };
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(640);
    weights.segment(100, 3).setConstant(.25);
    weights[320] = .25;
    winner(weights, counted);
    CHECK(blocks == 2);  // those that have weight, once each
    CHECK(ids <= 4);
    ids = blocks = 0;
    winner(Eigen::VectorXd::Constant(64000, 1).eval(), counted);
    CHECK(blocks == 1000);
    CHECK(ids < 300);
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
        REQUIRE(race(Rng({.seed = seed}), RowWeights(detail::as_row(weights)), ids) == 3);
        REQUIRE(ids == winners(weights, noise, 3));
    }
}

TEST_CASE("the first of several blocks come in the order of a draw without replacement", "[kernels]") {
    const auto distribution = without_replacement(row({.4, .1, .3, .2}), 3);
    const Ids places{3, 69, 70, 199};
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(256);
    for (std::size_t i = 0; i < 4; ++i) weights[places[i]] = row({.4, .1, .3, .2})[static_cast<Index>(i)];
    CHECK(races(distribution, 200000, [&](const auto& noise) {
              Ids ids = winners(weights, noise, 3);
              for (Token& id : ids) id = static_cast<Token>(std::ranges::find(places, id) - places.begin());
              return ids;
          }).holds());
}

TEST_CASE("two rows of several blocks agree as often as with independent times", "[kernels]") {
    const Eigen::VectorXd p = random_row(200, 5, .2, 3), q = random_row(200, 6, .2, 3);
    double agreement = 0;
    for (Index i = 0; i < 200; ++i)
        if (p[i] > 0 && q[i] > 0) agreement += 1 / (p / p[i]).cwiseMax(q / q[i]).sum();
    int agreed = 0;
    constexpr int count = 200000;
    for (std::uint64_t seed = 0; seed < count; ++seed) agreed += winner(p, noise_of(seed)) == winner(q, noise_of(seed));
    CHECK(std::abs(agreed - count * agreement) < 4.9 * std::sqrt(count * agreement * (1 - agreement)));  // 1e-6
}

TEST_CASE("padding, slices and sparse rows leave the winners as they are", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Eigen::VectorXd weights = random_row(777, seed, .6, 4);
        const auto noise = noise_of(seed + 900);
        const Ids expected = winners(weights, noise, 5);
        Eigen::VectorXd padded = Eigen::VectorXd::Zero(1300);
        padded.head(777) = weights;
        REQUIRE(winners(padded, noise, 5) == expected);
        Ids ids;
        std::vector<double> probs;
        for (Index i = 0; i < 777; ++i)
            if (weights[i] > 0 || i % 7 == 0) {
                ids.push_back(static_cast<Token>(i));
                probs.push_back(weights[i]);
            }
        REQUIRE(winners(Sparse(ids, probs, 1300), noise, 5) == expected);
        // The rows of two ranks: the first winners of both are those of the whole row.
        const Index border = 1 + static_cast<Index>(seed * 5 % 776);
        Eigen::VectorXd left = weights, right = weights;
        left.tail(777 - border).setZero();
        right.head(border).setZero();
        std::vector<std::pair<double, Token>> both;
        for (const Eigen::VectorXd& slice : {left, right}) {
            Numbers arrivals;
            const Ids some = winners(slice, noise, 5, &arrivals);
            for (std::size_t i = 0; i < some.size(); ++i) both.emplace_back(arrivals[i], some[i]);
        }
        std::ranges::sort(both);
        for (std::size_t i = 0; i < 5; ++i) REQUIRE(both[i].second == expected[i]);
    }
}

namespace {

/// All ids of logits that are not masked, by the definition.
template <class R, class F>
Ids naive_of_logits(const R& logits, double temperature, const F& noise) {
    const auto view = detail::as_row(logits);
    std::vector<std::pair<double, Token>> arrivals;
    for (Index i = 0; i < view.size(); ++i)
        if (const double z = static_cast<double>(view.coeff(i)); z > -1e300)
            arrivals.emplace_back(std::log(time_of(static_cast<std::uint32_t>(i), noise)) - z / temperature,
                                  static_cast<Token>(i));
    std::ranges::sort(arrivals);
    Ids ids;
    for (const auto& [time, id] : arrivals) ids.push_back(id);
    return ids;
}

template <class R, class F>
Ids winners_of_logits(const R& logits, const F& noise, std::size_t places) {
    Ids ids(places);
    Numbers arrivals(places);
    ids.resize(static_cast<std::size_t>(race_winners(race_weights(logits), for_lanes(noise), ids, arrivals)));
    return ids;
}

}  // namespace

TEMPLATE_TEST_CASE("logits race by the definition at any level and temperature", "[kernels]", float, double,
                   Eigen::half) {
    using Row = Eigen::Matrix<TestType, Eigen::Dynamic, 1>;
    const double level_bound = std::is_same_v<TestType, Eigen::half> ? 1000 : 80000;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        for (const double level : {0., -level_bound, level_bound})
            for (const double temperature : {.3, 1., 20.}) {
                const auto noise = noise_of(seed);
                const Eigen::VectorXd shape = random_row(seed % 6 == 0 ? 3000 : 150, seed, .2, 2) * 400;
                Row logits = (shape.array() + level).template cast<TestType>();
                for (Index i = 0; i < logits.size(); ++i)
                    if (shape[i] == 0) logits[i] = static_cast<TestType>(-std::numeric_limits<float>::infinity());
                const Ids all = naive_of_logits(logits, temperature, noise);
                REQUIRE(winners_of_logits(Logits(logits, temperature), noise, 1) == Ids{all[0]});
                REQUIRE(winners_of_logits(Logits(logits, temperature), noise, 6) == Ids(all.begin(), all.begin() + 6));
            }
}

TEST_CASE("logits that are far below the others still win where others are too few", "[kernels]") {
    Eigen::VectorXf logits = Eigen::VectorXf::Constant(5000, -std::numeric_limits<float>::infinity());
    logits[4000] = 0;
    logits[17] = -3000;
    logits[18] = -3000;
    logits[2500] = -20000;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Ids ids = winners_of_logits(Logits(logits), noise_of(seed), 7);
        REQUIRE(ids.size() == 4);
        REQUIRE(ids[0] == 4000);
        REQUIRE(std::pair(std::min(ids[1], ids[2]), std::max(ids[1], ids[2])) == std::pair<Token, Token>(17, 18));
        REQUIRE(ids[3] == 2500);
    }
    CHECK(winners_of_logits(Logits(logits, 0), noise_of(1), 3) == Ids{4000});
    CHECK(winners_of_logits(Logits(logits, 1e-300), noise_of(1), 1) == Ids{4000});
}

TEST_CASE("what is no logit ends the race, and a row without any has no winner", "[kernels]") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, -nan, infinity})
        for (const Index at : {0, 63, 64, 120, 129})
            for (const double temperature : {0., 1.}) {
                Eigen::VectorXf logits = Eigen::VectorXf::Constant(130, 1);
                logits[at] = bad;
                CHECK(race_winner(race_weights(Logits(logits, temperature)), for_lanes(noise_of(3))) == -1);
            }
    CHECK(race_winner(race_weights(Logits(Eigen::VectorXf::Constant(130, -infinity))), for_lanes(noise_of(3))) == -1);
}

TEST_CASE("logits agree with their probabilities, and sparse ones with dense ones", "[kernels]") {
    int other = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Rng rng({.seed = seed});
        const Eigen::VectorXd probs = random_row(500, seed, .5, 2);
        const Eigen::VectorXf logits = probs.array().log().cast<float>();
        other += race(rng, probs) != race(rng, Logits(logits));
        Ids ids;
        std::vector<float> held;
        for (Index i = 0; i < 500; ++i)
            if (probs[i] > 0) {
                ids.push_back(static_cast<Token>(i));
                held.push_back(logits[i]);
            }
        REQUIRE(race(rng, Sparse(ids, Logits(held), 500)) == race(rng, Logits(logits)));
    }
    CHECK(other <= 1);  // a tie within a float's rounding
}

TEST_CASE("a block races by its largest weight wherever in the block that is", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Rng pick({.seed = seed});
        Eigen::VectorXf weights = Eigen::VectorXf::Constant(20 * 64 + 30, 1e-6f);
        for (std::uint32_t block = 0; block < 20; ++block)
            weights[64 * block + static_cast<Index>(pick.bits(block) % 64)] = static_cast<float>(pick.uniform(block));
        const auto noise = noise_of(seed);
        const Ids all = naive(weights, noise);
        REQUIRE(winners(weights, noise, 3) == Ids(all.begin(), all.begin() + 3));
        const Eigen::VectorXf logits = weights.array().log();
        REQUIRE(winners_of_logits(Logits(logits), noise, 3) == Ids(all.begin(), all.begin() + 3));
    }
}

TEST_CASE("a bad sparse row that repeats ids ends with a winner of its own", "[kernels]") {
    // Its blocks have no more places than the buffers of a block.
    std::vector<Token> two(100, 5);
    two.resize(170, 200);
    const std::vector<double> weights(170, 1);
    const Sparse row(two, weights, 1000);
    const RowWeights numbers(detail::as_row(row));
    const detail::RaceRow<std::remove_const_t<decltype(numbers)>> race(numbers);
    for (const auto& [place, size] : {std::pair{0, 64}, {64, 36}, {100, 64}, {164, 6}})
        REQUIRE(race.block_size_at(place) == size);

    const std::vector<Token> ids(700, 5);
    const std::vector<float> probs(700, 1.f / 700);
    for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(winner(Sparse(ids, probs, 1000), noise_of(seed)) == 5);
}

TEST_CASE("a long sparse row has the winners of the dense one, wherever its blocks end", "[kernels]") {
    std::uint64_t seed = 0;
    for (const Index size : {700, 3000, 60000})
        for (const double zeros : {.02, .5, .95, .99}) {
            const Eigen::VectorXd weights = random_row(size, ++seed, zeros, 4);
            Ids ids;
            std::vector<double> probs;
            std::vector<float> logits;
            Eigen::VectorXf dense = Eigen::VectorXf::Constant(size, -std::numeric_limits<float>::infinity());
            for (Index i = 0; i < size; ++i) {
                if (weights[i] == 0 && i % 100 != 0) continue;
                ids.push_back(static_cast<Token>(i));
                probs.push_back(weights[i]);
                logits.push_back(static_cast<float>(std::log(weights[i])));
                dense[i] = logits.back();
            }
            for (const std::size_t places : {1u, 5u, 60u}) {
                CAPTURE(size, zeros, places, ids.size());
                const auto noise = noise_of(++seed);
                const auto most = std::min(places, static_cast<std::size_t>((weights.array() > 0).count()));
                REQUIRE(winners(Sparse(ids, probs, size), noise, most) == winners(weights, noise, most));
                // Numbers that are read through a buffer.
                const Eigen::Map<const Eigen::VectorXd> listed(probs.data(), std::ssize(probs));
                const Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> strided = listed.replicate(1, 2);
                REQUIRE(winners(Sparse(ids, strided.col(0), size), noise, most) == winners(weights, noise, most));
                REQUIRE(winners_of_logits(Sparse(ids, Logits(logits), size), noise, most) ==
                        winners_of_logits(Logits(dense), noise, most));
            }
        }
}

TEST_CASE("a block of a sparse row is listed whole, also where a buffer of its numbers ends", "[kernels]") {
    Ids ids(700);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Token>(i + 32);  // the ids of a block: 480 to 543
    for (const Index heavy : {480, 511, 512, 520, 543, 544}) {
        Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> strided(700, 2);
        strided.setConstant(1e-30);
        strided(heavy, 0) = 1;
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            REQUIRE(winner(Sparse(ids, strided.col(0), 800), noise_of(seed)) == heavy + 32);
    }
}

TEST_CASE("a row of more blocks than are ordered at once races by the definition", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Eigen::VectorXd weights = random_row(70000, seed, .3, 6);
        // The largest weights at the end, at the beginning, or anywhere.
        if (seed % 3 != 2)
            for (Index i = 0; i < weights.size(); ++i)
                weights[i] *= std::exp2(static_cast<double>(seed % 3 == 0 ? i : -i) / 500);
        const auto noise = noise_of(seed + 70);
        const Ids all = naive(weights, noise);
        const Eigen::VectorXf logits = weights.array().log().cast<float>();
        for (const std::size_t places : {1u, 6u, 40u}) {
            REQUIRE(winners(weights, noise, places) == Ids(all.begin(), all.begin() + Index(places)));
            REQUIRE(winners((weights * 0x1p-900).eval(), noise, places) == winners(weights, noise, places));
        }
        REQUIRE(winners_of_logits(Logits(logits), noise, 1) == Ids{all[0]});
    }
}

TEST_CASE("a race asks for the noise of the ids that may win alone, at any scale and place of the weights",
          "[kernels]") {
    long ids = 0, blocks = 0;
    const auto counted = [&](std::uint32_t lane) {
        ++(lane < 0x8000'0000u ? ids : blocks);
        return noise_of(3)(lane);
    };
    const Eigen::VectorXd weights = random_row(30000, 5, .1, 3);
    for (const double scale : {0x1p-1000, 0x1p-60, 1., 0x1p60, 0x1p900}) {
        ids = blocks = 0;
        winner((weights * scale).eval(), counted);
        CAPTURE(scale, ids);
        CHECK(blocks == (30000 + 63) / 64);
        CHECK(ids < 150);
        // Masked logits need none.
        Eigen::VectorXf masked = Eigen::VectorXf::Constant(640, -std::numeric_limits<float>::infinity());
        masked[100] = masked[101] = masked[320] = static_cast<float>(std::log(scale));
        ids = blocks = 0;
        race_winner(race_weights(Logits(masked)), for_lanes(counted));
        CHECK(blocks == 2);
        CHECK(ids <= 3);
        const Eigen::VectorXd logits = weights.array().log() + std::log(scale);
        ids = blocks = 0;
        race_winner(race_weights(Logits(logits)), for_lanes(counted));
        CHECK(ids < 150);
    }
}

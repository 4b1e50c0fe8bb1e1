// Weights from the smallest to the largest number of their scalar: races, draws and acceptances know only ratios.
//
// A row of small whole numbers times a power of two is exact, down to the smallest double. So its winners, their order
// and its draws must be those of the whole numbers themselves, for the same noise: equality, not statistics.
#include <specsample/kernels/race.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <specsample/kernels/residual.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/random/generator_rng.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/sparse.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

using Ids = std::vector<Token>;

const Ids none;

template <class R>
Ids race_for(std::uint64_t seed, const R& row, std::size_t places) {
    Ids ids(places);
    ids.resize(static_cast<std::size_t>(std::max<Index>(race(Rng({.seed = seed}), row, ids), 0)));
    return ids;
}

/// Small whole numbers, some of them 0.
Eigen::VectorXd whole_numbers(Index size, std::uint64_t seed) {
    const Rng rng({.seed = seed});
    Eigen::VectorXd row(size);
    for (Index i = 0; i < size; ++i) row[i] = static_cast<double>(rng.bits(static_cast<std::uint32_t>(i)) % 8);
    return row;
}

template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

template <class Scalar>
Vector<Scalar> times(const Eigen::VectorXd& row, int exponent) {
    Vector<Scalar> scaled(row.size());
    for (Index i = 0; i < row.size(); ++i) scaled[i] = static_cast<Scalar>(std::ldexp(row[i], exponent));
    return scaled;
}

/// Exponents of the smallest number, of others near and far, and of the largest of 7 times which is finite.
template <class Scalar>
std::vector<int> exponents() {
    if constexpr (std::is_same_v<Scalar, double>) {
        return {-1074, -1073, -1050, -1030, -1022, -1016, -1003, -1000, -996,
                -900,  -60,   900,   960,   996,   1000,  1015,  1021};
    } else if constexpr (std::is_same_v<Scalar, Eigen::half>) {
        return {-24, -20, -14, 0, 13};
    } else if constexpr (std::is_same_v<Scalar, Eigen::bfloat16>) {
        return {-133, -126, -100, 0, 100, 125};
    } else {
        return {-149, -140, -126, -100, 0, 100, 125};
    }
}

/// The order of arrival by the definition, with logarithms in long double.
Ids by_definition(std::uint64_t seed, const std::vector<long double>& log_weights) {
    const Rng rng({.seed = seed});
    std::vector<std::pair<long double, Token>> arrivals;
    for (std::size_t i = 0; i < log_weights.size(); ++i) {
        const auto id = static_cast<std::uint32_t>(i);
        const auto bits = static_cast<std::uint64_t>(rng.open_uniform(0x8000'0000u + id / 64) * 0x1p52);
        const double least = -std::log((static_cast<double>(bits / 64) + .5) / 0x1p46) / 64;
        const double time = id % 64 == bits % 64 ? least : least - std::log(rng.open_uniform(id));
        if (std::isfinite(log_weights[i]))
            arrivals.emplace_back(std::log(static_cast<long double>(time)) - log_weights[i], static_cast<Token>(i));
    }
    std::ranges::sort(arrivals);
    Ids ids;
    for (const auto& [time, id] : arrivals) ids.push_back(id);
    return ids;
}

/// Says the number that it was given.
struct Number {
    double value;
    double uniform() const { return value; }
};

/// Draws with the middles of `count` equal parts of [0, 1).
template <class W>
std::vector<int> draws(const W& weights, Index ids, int count) {
    std::vector<int> found(static_cast<std::size_t>(ids));
    for (int i = 0; i < count; ++i) ++found.at(static_cast<std::size_t>(draw(Number{(i + .5) / count}, weights).index));
    return found;
}

}  // namespace

TEMPLATE_TEST_CASE("a race has the same winners at every scale of its weights", "[kernels]", double, float, Eigen::half,
                   Eigen::bfloat16) {
    for (const Index size : {2, 5, 64, 130, 700})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Eigen::VectorXd row = whole_numbers(size, seed);
            const auto all = static_cast<std::size_t>((row.array() > 0).count());
            Ids ids;
            for (Index i = 0; i < size; ++i)
                if (row[i] > 0) ids.push_back(static_cast<Token>(i));
            for (const std::size_t places : {std::size_t{1}, std::size_t{3}, all}) {
                if (places == 0) continue;
                const Ids expected = race_for(seed, row, places);
                REQUIRE(expected.size() == std::min(places, all));
                for (const int exponent : exponents<TestType>()) {
                    CAPTURE(size, seed, places, exponent);
                    const auto scaled = times<TestType>(row, exponent);
                    REQUIRE(race_for(seed, scaled, places) == expected);
                    const Eigen::Matrix<TestType, Eigen::Dynamic, 2, Eigen::RowMajor> strided = scaled.replicate(1, 2);
                    REQUIRE(race_for(seed, strided.col(1), places) == expected);
                    REQUIRE(race_for(seed, WithoutWeights(detail::as_row(scaled), none), places) == expected);
                    std::vector<TestType> held;
                    for (const Token id : ids) held.push_back(scaled[id]);
                    REQUIRE(race_for(seed, Sparse(ids, held, size), places) == expected);
                }
            }
        }
}

TEST_CASE("a race of weights of very different scales arrives by the definition", "[kernels]") {
    constexpr std::array scales{5e-324, 1e-320, 1e-310, 1e-307, 1e-301, 1e-200, 1., 1e200, 1e290, 1e300, 2e307};
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const Rng rng({.seed = seed});
        const Index size = std::array{3, 9, 200}[seed % 3];
        Eigen::VectorXd row = whole_numbers(size, seed);
        std::vector<long double> logs;
        for (Index i = 0; i < size; ++i) {
            row[i] *= scales[rng.bits(static_cast<std::uint32_t>(i) + 1000) % scales.size()];
            logs.push_back(std::log(static_cast<long double>(row[i])));
        }
        const Ids expected = by_definition(seed, logs);
        for (const std::size_t places : {std::size_t{1}, std::size_t{2}, std::size_t{7}, expected.size()}) {
            CAPTURE(seed, size, places);
            const auto count = static_cast<Index>(std::min(places, expected.size()));
            REQUIRE(race_for(seed, row, places) == Ids(expected.begin(), expected.begin() + count));
        }
    }
}

TEST_CASE("logits far below the others arrive in the order of their own weights", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 400; ++seed)
        for (const double temperature : {1e-3, .05, 1., 30.}) {
            const Rng rng({.seed = seed});
            const Index size = std::array{3, 9, 200}[seed % 3];
            Eigen::VectorXd logits(size);
            std::vector<long double> logs;
            for (Index i = 0; i < size; ++i) {
                // Groups that are 2000 apart at temperature 1, and within them less than 2.
                const auto lane = static_cast<std::uint32_t>(i);
                const double group = static_cast<double>(rng.bits(lane + 1000) % 4) * -2000;
                logits[i] = (group + 2 * rng.uniform(lane)) * temperature;
                logs.push_back(static_cast<long double>(logits[i]) / static_cast<long double>(temperature));
            }
            const Ids expected = by_definition(seed, logs);
            for (const std::size_t places : {std::size_t{1}, std::size_t{2}, std::size_t{7}, expected.size()}) {
                CAPTURE(seed, size, places, temperature);
                const auto count = static_cast<Index>(std::min(places, expected.size()));
                REQUIRE(race_for(seed, Logits(logits, temperature), places) ==
                        Ids(expected.begin(), expected.begin() + count));
            }
        }
}

TEMPLATE_TEST_CASE("at the smallest temperatures the largest logit wins", "[kernels]", double, float) {
    Vector<TestType> logits(4);
    logits << TestType(1), TestType(-3), TestType(30), TestType(29.5);
    for (const double temperature : {5e-324, 1e-310, 1e-308, 1e-300, 1e-100, 1e-40, 1e-38, 1e-10})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            CAPTURE(temperature);
            REQUIRE(race(Rng({.seed = seed}), Logits(logits, temperature)) == 2);
            REQUIRE(race(Rng({.seed = seed}), Logits((logits * TestType(1e9)).eval(), temperature)) == 2);
            REQUIRE(draw(Rng({.seed = seed}), Logits(logits, temperature)).index == 2);
        }
}

TEST_CASE("weights whose sum is no normal number are drawn in proportion", "[kernels]") {
    const Eigen::VectorXd row = (Eigen::VectorXd(6) << 1, 0, 2, 4, 1, 2).finished();
    const std::vector<int> expected{100, 0, 200, 400, 100, 200};
    for (const int exponent : {-1074, -1073, -1060, -1027, -1024, -1000, 0, 1020}) {
        CAPTURE(exponent);
        const Eigen::VectorXd scaled = times<double>(row, exponent);
        CHECK(draws(scaled, 6, 1000) == expected);
        CHECK(draws(WithoutWeights(detail::as_row(scaled), none), 6, 1000) == expected);
        const Eigen::VectorXd nothing = Eigen::VectorXd::Zero(6);
        if (exponent < 1020)  // twice the sum of a residual is a double
            CHECK(draws(ResidualWeights(detail::as_row(scaled), detail::as_row(nothing)), 6, 1000) == expected);
        CHECK(draws(Sparse(Ids{0, 2, 3, 4, 5}, std::vector{scaled[0], scaled[2], scaled[3], scaled[4], scaled[5]}, 6),
                    6, 1000) == expected);
        // In blocks far from each other.
        Eigen::VectorXd wide = Eigen::VectorXd::Zero(300000);
        for (Index i = 0; i < 6; ++i) wide[i * 50000] = scaled[i];
        const auto of_wide = draws(wide, 300000, 1000);
        for (Index i = 0; i < 6; ++i)
            CHECK(of_wide[static_cast<std::size_t>(i) * 50000] == expected[static_cast<std::size_t>(i)]);
    }
    CHECK(draws(times<float>(row, -149), 6, 1000) == expected);
    CHECK(draws(times<Eigen::half>(row, -24), 6, 1000) == expected);
    CHECK(draws(times<Eigen::bfloat16>(row, -133), 6, 1000) == expected);
}

TEST_CASE("a generator draws from weights whose sum is no normal number", "[kernels]") {
    std::mt19937_64 generator(3);
    const GeneratorRng rng(generator);
    const Eigen::VectorXd scaled = times<double>((Eigen::VectorXd(3) << 1, 2, 1).finished(), -1074);
    std::array<int, 3> found{};
    constexpr int count = 40000;
    for (int i = 0; i < count; ++i) ++found.at(static_cast<std::size_t>(draw(rng, scaled).index));
    const double bound = 5 * std::sqrt(count / 4. * .75);  // false alarms: below 1e-6 each
    CHECK(std::abs(found[0] - count / 4) < bound);
    CHECK(std::abs(found[1] - count / 2) < 5 * std::sqrt(count / 4.));
    CHECK(std::abs(found[2] - count / 4) < bound);
}

TEST_CASE("the ratio of two weights decides an acceptance at every scale", "[kernels]") {
    for (const int exponent : {-1074, -1070, -1030, -1022, -1000, -961, -959, -100, -3, 1020}) {
        CAPTURE(exponent);
        for (int s = 0; s <= 5; ++s) {
            int accepted = 0;
            for (int i = 0; i < 1000; ++i)
                accepted += accept(Number{(i + .5) / 1000}, std::ldexp(double(s), exponent), std::ldexp(5., exponent));
            CHECK(accepted == 200 * s);
        }
        CHECK_FALSE(accept(Number{0}, 0, std::ldexp(1., exponent)));
        CHECK(accept(Number{1 - 0x1p-53}, std::ldexp(1., exponent), std::ldexp(1., exponent)));
    }
    CHECK(accept(Number{.999}, 1, 5e-324));
    CHECK_FALSE(accept(Number{.5}, 5e-324, 1));
}

// The largest entries of a row, in order.
#include <specsample/kernels/top.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <specsample/kernels/argmax.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/rows/logits.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using Ids = std::vector<Token>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The ids that are found, with room for `count`.
template <class R>
Ids top(const R& row, std::size_t count) {
    Ids ids(count, -7);
    const Index found = top_ids(row, std::span(ids));
    REQUIRE(found <= static_cast<Index>(count));
    for (auto rest = ids.begin() + found; rest != ids.end(); ++rest) CHECK(*rest == -7);  // not written
    ids.resize(static_cast<std::size_t>(found));
    return ids;
}

}  // namespace

TEST_CASE("the largest entries come first, with the lowest id on ties", "[kernels]") {
    const std::vector<double> row{.1, .3, .1, .3, .2};
    CHECK(top(row, 1) == Ids{1});
    CHECK(top(row, 2) == Ids{1, 3});
    CHECK(top(row, 3) == Ids{1, 3, 4});
    CHECK(top(row, 4) == Ids{1, 3, 4, 0});
    CHECK(top(row, 5) == Ids{1, 3, 4, 0, 2});
    CHECK(top(std::vector<float>(6, .5f), 4) == Ids{0, 1, 2, 3});
}

TEST_CASE("fewer ids than asked for where the row has fewer positive entries", "[kernels]") {
    CHECK(top(std::vector<double>{0, .5, 0, .5}, 3) == Ids{1, 3});
    CHECK(top(std::vector<double>{0, 0}, 2).empty());
    CHECK(top(std::vector<double>{.5, -.5, -0.}, 3) == Ids{0});
    CHECK(top(std::vector<double>{}, 2).empty());
    CHECK(top(std::vector<double>{.25, .75}, 9) == Ids{1, 0});
}

TEST_CASE("a count of 0 gives no ids", "[kernels]") {
    CHECK(top(std::vector<double>{.5, .5}, 0).empty());
    CHECK(top(std::vector<double>{}, 0).empty());
}

TEST_CASE("entries that are no positive number are passed over", "[kernels]") {
    CHECK(top(std::vector<double>{not_a_number, .2, infinity, .7, -infinity, not_a_number, .1}, 4) == Ids{3, 1, 6});
    CHECK(top(std::vector<double>{not_a_number, not_a_number}, 2).empty());
}

TEST_CASE("entries beside one that is no number are found", "[kernels]") {
    std::vector<float> row(2000), clean;
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<float>(1 + Rng({.seed = 3}).bits(static_cast<std::uint32_t>(i)) % 1000);
    clean = row;
    for (std::size_t i = 5; i < row.size(); i += 7) {
        row[i] = std::numeric_limits<float>::quiet_NaN();
        clean[i] = 0;
    }
    for (const std::size_t count : {1u, 2u, 9u}) CHECK(top(row, count) == top(clean, count));
}

TEST_CASE("the first of the largest is the argmax", "[kernels]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Eigen::VectorXf row(700);
        for (Index i = 0; i < row.size(); ++i)
            row[i] = static_cast<float>(1 + Rng({.seed = seed}).bits(static_cast<std::uint32_t>(i)) % 100);
        CHECK(top(row, 3).front() == argmax(row));
    }
}

TEMPLATE_TEST_CASE("the largest entries agree with a stable sort", "[kernels]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    for (const std::size_t size : {1u, 2u, 7u, 64u, 513u, 2000u})
        for (const std::size_t count : {1u, 2u, 5u, 40u}) {
            std::vector<TestType> row(size);
            for (std::size_t i = 0; i < size; ++i)
                row[i] = static_cast<TestType>(
                    static_cast<float>(Rng({.seed = size}).bits(static_cast<std::uint32_t>(i)) % 32));  // many ties
            Ids expected(size);
            for (std::size_t i = 0; i < size; ++i) expected[i] = static_cast<Token>(i);
            const auto value = [&](Token id) { return static_cast<float>(row[static_cast<std::size_t>(id)]); };
            std::ranges::stable_sort(expected, std::greater<>(), value);
            std::erase_if(expected, [&](Token id) { return !(value(id) > 0); });
            expected.resize(std::min(expected.size(), count));
            CHECK(top(row, count) == expected);
        }
}

TEST_CASE("the largest entries of strided rows and of expressions", "[kernels]") {
    Eigen::MatrixXd matrix(2, 4);
    matrix << 0, 0, 0, 0, .1, .4, .2, .3;
    CHECK(top(matrix.row(1), 2) == Ids{1, 3});
    CHECK(top(1 - matrix.row(1).array(), 2) == Ids{0, 2});
}

TEMPLATE_TEST_CASE("the largest weights of logits are those of a stable sort of the weights", "[kernels]", float, double,
                   Eigen::half, Eigen::bfloat16) {
    for (const std::size_t size : {5u, 600u, 3000u})
        for (const double temperature : {1e-3, .7, 3.})
            for (const double step : {1e-6, .01, 1.}) {  // with the smallest step, different logits have equal weights
                std::vector<TestType> logits(size);
                for (std::size_t i = 0; i < size; ++i)
                    logits[i] = static_cast<TestType>(static_cast<float>(
                        1 + step * static_cast<double>(Rng({.seed = 5}).bits(static_cast<std::uint32_t>(i)) % 90)));
                logits[size / 2] = static_cast<TestType>(static_cast<float>(-infinity));
                const auto weights = Logits(logits, temperature).probs().eval();
                Ids expected(size);
                std::iota(expected.begin(), expected.end(), Token{0});
                std::ranges::stable_sort(expected, std::greater{}, [&](Token id) { return weights[id]; });
                std::erase_if(expected, [&](Token id) { return !(weights[id] > 0); });
                expected.resize(std::min<std::size_t>(expected.size(), 40));
                INFO("size " << size << ", temperature " << temperature << ", step " << step);
                CHECK(top(Logits(logits, temperature), 40) == expected);
            }
}

TEST_CASE("logits that define no distribution have no largest weights", "[kernels]") {
    std::vector<float> logits(1000, 1);
    CHECK(top(Logits(logits, 0), 3) == Ids{0});
    logits[700] = std::numeric_limits<float>::quiet_NaN();
    CHECK(top(Logits(logits), 3).empty());
    CHECK(top(Logits(std::vector<float>(1000, -std::numeric_limits<float>::infinity())), 3).empty());
}

// Positions of a row whose values are large enough.
#include <specsample/kernels/select_above.hpp>

#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using Ids = std::vector<Token>;

namespace {

template <class Value>
Ids at_least(const std::vector<Value>& row, Value threshold) {
    Ids kept{7, 7, 7};  // what was there before does not matter
    select_at_least(std::span(row), threshold, kept);
    return kept;
}

template <class Value>
Ids one_by_one(const std::vector<Value>& row, Value threshold) {
    Ids ids;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] >= threshold) ids.push_back(static_cast<Token>(i));
    return ids;
}

}  // namespace

TEST_CASE("what reaches the threshold is kept, in ascending order", "[kernels]") {
    const std::vector<double> row{.1, .3, 0, .2, .3};
    CHECK(at_least(row, .3) == Ids{1, 4});
    CHECK(at_least(row, .2) == Ids{1, 3, 4});
    CHECK(at_least(row, 0.) == Ids{0, 1, 2, 3, 4});
    CHECK(at_least(row, .4).empty());
    CHECK(at_least(std::vector<double>{}, 0.).empty());
    CHECK(at_least(std::vector<float>{-0.f, 0.f}, 0.f) == Ids{0, 1});
}

TEMPLATE_TEST_CASE("a threshold keeps what a look at every entry keeps", "[kernels]", float, double) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::vector<TestType> row(random() % 3000);
        const auto levels = 1 + random() % 2000;
        for (TestType& x : row) x = static_cast<TestType>(random() % levels);
        const auto threshold = static_cast<TestType>(random() % (levels + 1));
        REQUIRE(at_least(row, threshold) == one_by_one(row, threshold));
    }
}

TEST_CASE("nothing is as large as NaN, and every number reaches minus infinity", "[kernels]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
    CHECK(at_least({1, infinity}, not_a_number).empty());
    CHECK(at_least({1, -infinity, infinity}, -infinity) == Ids{0, 1, 2});
    CHECK(at_least({1, -infinity, infinity}, infinity) == Ids{2});
}

TEST_CASE("a selection in memory that was used before does not allocate", "[kernels]") {
    const std::vector<float> row(5000, 1);
    Ids kept;
    select_at_least(std::span(row), .5f, kept);
    const Token* memory = kept.data();
    select_at_least(std::span(row), 2.f, kept);
    CHECK(kept.empty());
    select_at_least(std::span(row), 1.f, kept);
    CHECK(kept.size() == row.size());
    CHECK(kept.data() == memory);
}

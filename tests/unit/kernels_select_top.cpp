// The k largest values of a row, as positions.
#include <specsample/kernels/select_top.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using Ids = std::vector<Token>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Value>
Ids top(const std::vector<Value>& row, Index k, Value above = -std::numeric_limits<Value>::infinity()) {
    static SelectionScratch<Value> scratch;  // with whatever the last row has left
    Ids kept{7, 7, 7};
    select_top(std::span(row), k, above, kept, scratch);
    return kept;
}

/// By a sort of the row.
template <class Value>
Ids sorted_top(const std::vector<Value>& row, Index k, Value above = -std::numeric_limits<Value>::infinity()) {
    Ids ids(row.size());
    std::iota(ids.begin(), ids.end(), Token{0});
    std::erase_if(ids, [&](Token id) { return !(row[static_cast<std::size_t>(id)] > above); });
    std::ranges::stable_sort(ids, std::greater{}, [&](Token id) { return row[static_cast<std::size_t>(id)]; });
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(k)));
    std::ranges::sort(ids);
    return ids;
}

}  // namespace

TEST_CASE("the largest values are kept in ascending order, the lowest id first on ties", "[kernels]") {
    const std::vector<double> row{.1, .3, .1, .3, .2};
    CHECK(top(row, 0).empty());
    CHECK(top(row, 1) == Ids{1});
    CHECK(top(row, 2) == Ids{1, 3});
    CHECK(top(row, 4) == Ids{0, 1, 3, 4});
    CHECK(top(row, 5) == Ids{0, 1, 2, 3, 4});
    CHECK(top(row, 9, .1) == Ids{1, 3, 4});
    CHECK(top(std::vector<double>{}, 3).empty());
    CHECK(top(std::vector<float>{0.f, -0.f, 0.f, -1.f}, 2) == Ids{0, 1});
    CHECK(top(std::vector<float>{-infinity, -2, -infinity, infinity}, 3) == Ids{1, 3});
    CHECK(top(std::vector<float>{0, .5f, 0}, std::numeric_limits<Index>::max(), 0.f) == Ids{1});
}

TEMPLATE_TEST_CASE("a selection keeps what a sort keeps", "[kernels]", float, double) {
    std::mt19937_64 random(2);
    const auto pick = [&](std::uint64_t count) { return random() % count; };
    for (int round = 0; round < 3000; ++round) {
        std::vector<TestType> row(1 + pick(3000));
        const auto levels = pick(2) ? 1 + pick(10) : 1 + pick(1'000'000);
        for (TestType& x : row) {
            x = static_cast<TestType>(pick(levels)) - static_cast<TestType>(levels / 2);
            if (pick(10) == 0) x = -std::numeric_limits<TestType>::infinity();
        }
        if (round % 5 == 1) std::ranges::sort(row);
        if (round % 5 == 2) std::ranges::sort(row, std::greater{});
        const auto k = static_cast<Index>(1 + pick(pick(2) ? 50 : 3000));
        REQUIRE(top(row, k) == sorted_top(row, k));
        REQUIRE(top(row, k, TestType{0}) == sorted_top(row, k, TestType{0}));
    }
}

TEST_CASE("a long row, shuffled, ascending, descending and constant", "[kernels]") {
    constexpr std::size_t size = 262145;
    std::mt19937_64 random(3);
    std::vector<float> row(size);
    for (float& x : row) x = static_cast<float>(random() % 100'000);
    const auto check = [&] {
        for (const Index k : {1, 40, 1000, 5000, 131072}) CHECK((top(row, k) == sorted_top(row, k)));
    };
    check();
    std::ranges::sort(row);
    check();
    std::ranges::reverse(row);
    check();
    std::ranges::fill(row, 1.f);
    check();
}

TEST_CASE("a sample that misleads top-k costs time only", "[kernels]") {
    std::vector<float> row(20000);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i % 1000);
    for (const float value : {5000.f, -5000.f}) {
        for (std::size_t i = 0; i < row.size(); i += detail::sample_stride) row[i] = value;
        for (const Index k : {60, 500, 1177, 1178, 3000, 19000}) CHECK((top(row, k) == sorted_top(row, k)));
    }
}

TEST_CASE("a row with NaN in it gives positions inside it, each once", "[kernels]") {
    std::mt19937_64 random(4);
    for (int round = 0; round < 500; ++round) {
        std::vector<float> row(1 + random() % 3000);
        const auto one_in = 1 + random() % 20;
        for (float& x : row) x = random() % one_in ? static_cast<float>(random() % 100) : not_a_number;
        const Ids kept = top(row, static_cast<Index>(1 + random() % 200));
        CHECK(std::set(kept.begin(), kept.end()).size() == kept.size());
        for (const Token id : kept) REQUIRE((id >= 0 && id < static_cast<Token>(row.size())));
    }
}

TEST_CASE("top-k in memory that was used before does not allocate", "[kernels]") {
    const std::vector<float> row(5000, 1);
    SelectionScratch<float> scratch;
    Ids kept;
    const auto memory = [&] {
        return std::tuple(kept.data(), scratch.maxima.data(), scratch.ids.data(), scratch.values.data(),
                          scratch.masses.data());
    };
    select_top(std::span(row), 4000, 0, kept, scratch);
    const auto before = memory();
    for (const Index k : {1, 40, 4000}) {
        select_top(std::span(row), k, 0, kept, scratch);
        CHECK(kept.size() == static_cast<std::size_t>(k));
        CHECK(memory() == before);
    }
}

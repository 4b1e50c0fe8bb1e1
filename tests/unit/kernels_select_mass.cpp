// The nucleus of a row, as positions.
#include <specsample/kernels/select_mass.hpp>

#include <algorithm>
#include <cmath>
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

template <class Value>
double sum(const std::vector<Value>& row) {
    return std::accumulate(row.begin(), row.end(), 0.);
}

template <class Value>
Ids nucleus(const std::vector<Value>& row, double total, double fraction) {
    static SelectionScratch<Value> scratch;  // with whatever the last row has left
    Ids kept{7, 7, 7};
    select_mass(std::span(row), total, fraction, kept, scratch);
    return kept;
}

/// By a sort of the row.
template <class Value>
Ids sorted_nucleus(const std::vector<Value>& row, double total, double fraction) {
    Ids ids(row.size());
    std::iota(ids.begin(), ids.end(), Token{0});
    const auto weight = [&](Token id) { return row[static_cast<std::size_t>(id)]; };
    std::erase_if(ids, [&](Token id) { return weight(id) == 0; });
    std::ranges::stable_sort(ids, std::greater{}, weight);
    std::size_t count = 0;
    for (double mass = 0; count < ids.size() && (mass < fraction * total || fraction >= 1 || count == 0);)
        mass += static_cast<double>(weight(ids[count++]));
    ids.resize(count);
    std::ranges::sort(ids);
    return ids;
}

/// A row of a kind: heavy ties, softmax of normal logits, a few heavy weights, a few levels far apart, subnormal ones.
template <class Value>
std::vector<Value> any_row(std::mt19937_64& random, std::size_t size) {
    std::vector<Value> row(size);
    const auto levels = 1 + random() % 100;
    const auto kind = random() % 5;
    for (Value& x : row) {
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        if (kind == 0) x = static_cast<Value>(random() % levels);
        if (kind == 1) x = static_cast<Value>(std::exp(3 * std::sqrt(-2 * std::log(1 - u)) * std::cos(6.28 * u * 97)));
        if (kind == 2) x = static_cast<Value>(u < .02 ? 1000 * u : 1e-4 * u);
        if (kind == 3) x = static_cast<Value>(std::ldexp(1, -static_cast<int>(random() % 20)));
        if (kind == 4) x = static_cast<Value>(random() % 50) * std::numeric_limits<Value>::denorm_min();
        if (random() % 10 == 0) x = 0;
    }
    return row;
}

}  // namespace

TEST_CASE("the nucleus is kept in ascending order, the lowest id first on ties", "[kernels]") {
    const std::vector<double> row{.125, .25, .125, .25, .25};
    CHECK(nucleus(row, 1, .1) == Ids{1});
    CHECK(nucleus(row, 1, .25) == Ids{1});
    CHECK(nucleus(row, 1, .26) == Ids{1, 3});
    CHECK(nucleus(row, 1, .75) == Ids{1, 3, 4});
    CHECK(nucleus(row, 1, .8) == Ids{0, 1, 3, 4});
    CHECK(nucleus(row, 1, .9) == Ids{0, 1, 2, 3, 4});
}

TEST_CASE("weights need not sum to one, and what has none is never kept", "[kernels]") {
    const std::vector<float> row{0, 6, 0, 2, 0};
    CHECK(nucleus(row, 8, .5) == Ids{1});
    CHECK(nucleus(row, 8, .75) == Ids{1});
    CHECK(nucleus(row, 8, .76) == Ids{1, 3});
    CHECK(nucleus(row, 8, 1) == Ids{1, 3});
    CHECK(nucleus(row, 80, .5) == Ids{1, 3});  // a total that is out of reach
    CHECK(nucleus(row, 8, 0) == Ids{1});       // one at least
    CHECK(nucleus(std::vector<float>{}, 0, .5).empty());
    CHECK(nucleus(std::vector<float>(300), 0, .5).empty());
    CHECK(nucleus(std::vector<float>(300), 1, .5).empty());
}

TEST_CASE("one weight among zeros is the nucleus", "[kernels]") {
    for (const float weight : {1.f, 1e-30f, std::numeric_limits<float>::denorm_min(), 1e30f})
        for (const std::size_t place : {0U, 255U, 4999U}) {
            std::vector<float> row(5000);
            row[place] = weight;
            for (const double fraction : {1e-9, .5, .999999, 1.})
                CHECK(nucleus(row, weight, fraction) == Ids{static_cast<Token>(place)});
        }
}

TEMPLATE_TEST_CASE("the nucleus is that of a sort", "[kernels]", float, double) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 3000; ++round) {
        const auto row = any_row<TestType>(random, 1 + random() % (round % 10 ? 3000 : 20000));
        const double fraction = static_cast<double>(1 + random() % 1024) / 1024;
        REQUIRE(nucleus(row, sum(row), fraction) == sorted_nucleus(row, sum(row), fraction));
    }
}

TEST_CASE("equal weights: as many as it takes, from the front", "[kernels]") {
    const std::vector<float> row(262144, 0x1p-18f);
    for (const auto count : {1, 7, 1000, 131072, 262143}) {
        Ids front(static_cast<std::size_t>(count));
        std::iota(front.begin(), front.end(), Token{0});
        CHECK((nucleus(row, 1, count * 0x1p-18) == front));
        CHECK((nucleus(row, 1, (count - .5) * 0x1p-18) == front));
    }
}

TEST_CASE("a long row, shuffled, ascending and descending", "[kernels]") {
    std::mt19937_64 random(6);
    std::vector<float> row(262145);
    for (float& x : row) x = static_cast<float>(std::exp(static_cast<double>(random() % 20'000) * 1e-3));
    const double total = sum(row);
    const auto check = [&] {
        for (const double fraction : {.01, .5, .95, .9999})
            CHECK((nucleus(row, total, fraction) == sorted_nucleus(row, total, fraction)));
    };
    check();
    std::ranges::sort(row);
    check();
    std::ranges::reverse(row);
    check();
}

TEST_CASE("a sample that knows nothing of the row costs time only", "[kernels]") {
    CHECK(detail::mass_stride(20000) == detail::sample_stride);
    CHECK(detail::mass_stride(262144) == 129);  // some 2000 values, an odd distance apart
    for (const std::size_t size : {20000u, 262144u}) {
        std::vector<float> row(size, 1.f);
        const std::size_t stride = detail::mass_stride(size);
        for (std::size_t i = 0; i < size; i += stride) row[i] = 20.f;  // all heavy, and no others
        CHECK((nucleus(row, sum(row), .9) == sorted_nucleus(row, sum(row), .9)));
        for (std::size_t i = 0; i < size; i += stride) row[i] = 0.f;
        CHECK((nucleus(row, sum(row), .9) == sorted_nucleus(row, sum(row), .9)));
    }
}

TEST_CASE("weights that are no numbers give positions inside the row, each once", "[kernels]") {
    std::mt19937_64 random(7);
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.f};
    for (int round = 0; round < 500; ++round) {
        auto row = any_row<float>(random, 1 + random() % 10000);
        const auto one_in = 1 + random() % 200;
        for (float& x : row)
            if (random() % one_in == 0) x = bad[random() % 3];
        const double totals[] = {1, sum(row), -1, static_cast<double>(bad[0]), static_cast<double>(bad[1])};
        for (const double total : totals) {
            const Ids kept = nucleus(row, total, .9);
            CHECK(std::set(kept.begin(), kept.end()).size() == kept.size());
            for (const Token id : kept) REQUIRE((id >= 0 && id < static_cast<Token>(row.size())));
        }
    }
}

TEST_CASE("top-p in memory that was used before does not allocate", "[kernels]") {
    std::mt19937_64 random(8);
    std::vector<float> flat(20000), peaked(20000, 1e-6f);
    for (float& x : flat) x = static_cast<float>(random() % 1000);
    peaked[5] = 10.f;
    SelectionScratch<float> scratch;
    Ids kept;
    const auto memory = [&] {
        return std::tuple(kept.data(), scratch.maxima.data(), scratch.ids.data(), scratch.values.data(),
                          scratch.masses.data());
    };
    select_mass(std::span<const float>(flat), sum(flat), .99999, kept, scratch);
    const auto before = memory();
    for (const double fraction : {.5, .9, .99}) {
        select_mass(std::span<const float>(flat), sum(flat), fraction, kept, scratch);
        select_mass(std::span<const float>(peaked), sum(peaked), fraction, kept, scratch);
        CHECK(memory() == before);
    }
}

// The first pass over a row of logits: the largest value of every tile, and every number that no logit can be.
#include <specsample/shaping/scan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <specsample/random/rng.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using numbers::Special;

namespace {

constexpr Index sizes[] = {1, 63, 64, 255, 256, 257, 511, 512, 513, 768, 1023, 1024, 1300};

template <class Value>
std::vector<Value> some_logits(Index size) {
    const Rng rng({.seed = static_cast<std::uint64_t>(size)});
    std::vector<Value> row;
    for (Index i = 0; i < size; ++i)
        row.push_back(static_cast<Value>(-8 * rng.uniform(static_cast<std::uint32_t>(i)) - .5));
    return row;
}

template <class Value>
std::vector<Value> largest_by_tile(const std::vector<Value>& row) {
    std::vector<Value> largest;
    for (auto first = row.begin(); first != row.end();) {
        const auto end = first + std::min(row.end() - first, std::ptrdiff_t{detail::tile_size});
        largest.push_back(*std::max_element(first, end));
        first = end;
    }
    return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("a scan finds the largest value of every tile", "[shaping]", float, double) {
    std::vector<TestType> maxima;
    for (const Index size : sizes) {
        const std::vector<TestType> row = some_logits<TestType>(size);
        const std::vector<TestType> expected = largest_by_tile(row);
        INFO("size " << size);
        const detail::Scan scan = detail::scan_logits(std::span(row), maxima);
        CHECK(maxima == expected);
        CHECK(scan.is_sound);
        CHECK(scan.maximum == static_cast<double>(*std::ranges::max_element(row)));
        detail::tile_maxima(std::span(row), maxima);
        CHECK(maxima == expected);
    }
}

TEMPLATE_TEST_CASE("a scan finds a NaN and an infinity wherever they are", "[shaping]", float, double) {
    std::vector<TestType> maxima;
    for (const Index size : sizes) {
        std::vector<TestType> row = some_logits<TestType>(size);
        Index missed = 0;
        for (TestType& logit : row) {
            const TestType good = logit;
            for (const Special bad : {Special::nan, Special::minus_nan, Special::infinity}) {
                numbers::write(logit, bad);
                missed += detail::scan_logits(std::span<const TestType>(row), maxima).is_sound;
            }
            logit = good;
        }
        INFO("size " << size);
        CHECK(missed == 0);
        numbers::write(row.back(), Special::minus_infinity);
        CHECK(detail::scan_logits(std::span<const TestType>(row), maxima).is_sound);
    }
}

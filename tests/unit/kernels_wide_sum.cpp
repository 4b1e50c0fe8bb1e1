// Sums in double of floats: every float becomes the same double, wherever it lies.
#include <specsample/kernels/wide_sum.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("a sum reads floats as doubles, from anywhere", "[kernels]") {
    constexpr Index count = detail::lane_count;
    std::vector<float> row;
    for (Index i = 0; i < 3 * count; ++i) row.push_back(std::ldexp(1.f + float(i) / 7, static_cast<int>(i % 60) - 30));
    row.front() = std::numeric_limits<float>::max();
    for (Index first = 0; first < count; ++first) {
        const auto doubles = detail::entries_at<count>(detail::AsDoubles<float>{row.data()}, first).eval();
        const auto single = detail::entries_at<1>(detail::AsDoubles<float>{row.data()}, first).value();
        CHECK(single == double{row[static_cast<std::size_t>(first)]});
        Index wrong = 0;
        for (Index i = 0; i < count; ++i) wrong += doubles[i] != double{row[static_cast<std::size_t>(first + i)]};
        CHECK(wrong == 0);
    }
    double sum = 0;
    for (std::size_t i = 1; i < row.size(); ++i) sum += double{row[i]};
    CHECK(std::abs(detail::wide_sum(row.data() + 1, std::ssize(row) - 1) / sum - 1) < 1e-14);
}

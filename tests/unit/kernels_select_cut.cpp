// The cut: the position where the largest values reach a given sum.
#include <specsample/kernels/select_cut.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using detail::ordered_bits;

namespace {

constexpr auto one = [](auto) { return 1.; };
constexpr auto itself = [](auto x) { return static_cast<double>(x); };

}  // namespace

TEMPLATE_TEST_CASE("bits are in the order of the values, infinities included", "[kernels]", float, double) {
    using Limits = std::numeric_limits<TestType>;
    const TestType ascending[] = {-Limits::infinity(),  Limits::lowest(), -1, -Limits::min(), -Limits::denorm_min(), 0,
                                  Limits::denorm_min(), Limits::min(),    1,  Limits::max(),  Limits::infinity()};
    CHECK(std::ranges::is_sorted(ascending, {}, ordered_bits<TestType>));
    CHECK(std::ranges::adjacent_find(ascending, {}, ordered_bits<TestType>) == std::end(ascending));
    CHECK(ordered_bits(TestType{0}) == ordered_bits(-TestType{0}));
    CHECK(ordered_bits(Limits::quiet_NaN()) != ordered_bits(Limits::infinity()));
}

TEMPLATE_TEST_CASE("a cut says how many of its ties it needs", "[kernels]", float, double) {
    std::vector<double> masses;
    const auto cut = [&](std::vector<TestType> values, double target, const auto& mass) {
        return detail::cut_at(std::span(values), target, mass, masses);
    };
    for (const std::size_t copies : {1U, 50U, 2000U}) {  // sorted, and counted to the last bit
        std::vector<TestType> values;
        for (std::size_t i = 0; i < copies; ++i) values.insert(values.end(), {2, 1, 4, 2});
        const auto n = static_cast<double>(copies);
        CHECK(cut(values, n, one).least == 4);
        CHECK(cut(values, n, one).ties == static_cast<Index>(copies));
        CHECK(cut(values, n + 1, one).least == 2);
        CHECK(cut(values, n + 1, one).ties == 1);
        CHECK(cut(values, 3 * n, one).ties == static_cast<Index>(2 * copies));
        CHECK(cut(values, 4 * n + 1, itself).least == 2);
        CHECK(cut(values, 4 * n + 1, itself).ties == 1);
        CHECK(cut(values, 4 * n + 2.5, itself).ties == 2);
        CHECK(cut(values, 9 * n, itself).least == 1);
        CHECK(cut(values, 9 * n + 1, itself).ties == static_cast<Index>(copies));  // out of reach: everything
    }
}

TEST_CASE("a target that is no number, or none, ends the cut in bounds", "[kernels]") {
    std::vector<double> masses;
    for (const double target : {-1., 0., std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<float> values(3000);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100);
        const auto cut = detail::cut_at(std::span(values), target, itself, masses);
        CHECK(cut.ties >= 1);
    }
}

// NormalisedWeights: the draws of a row whose sum is made, without the sum; and the rows it refuses.
#include <specsample/kernels/normalised.hpp>

#include <cmath>
#include <vector>

#include <specsample/kernels/sparse.hpp>
#include <specsample/random/coins.hpp>
#include <specsample/random/draw.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;

namespace {

constexpr double last_coin = 1 - 0x1p-53;

template <class R>
Index pick(const R& row, double u) {
    return draw_index(NormalisedWeights(as_row(row)), [u] { return u; }).index;
}

/// Zeros in every third place, the rest integers over a power of two: their sums are exact, and 1.
std::vector<float> exact_row(Index size) {
    std::vector<float> row(static_cast<std::size_t>(size));
    const Coin noise({.seed = 5});
    double left = 1;
    for (std::uint32_t i = 0; i + 1 < row.size(); ++i) {
        if (i % 3 == 0) continue;
        row[i] = static_cast<float>(std::floor(noise.uniform(i) * 0x1p20 * 1.2 / static_cast<double>(size))) * 0x1p-20f;
        left -= static_cast<double>(row[i]);
    }
    row.back() = static_cast<float>(left);
    return row;
}

}  // namespace

TEST_CASE("a row that sums to 1 is drawn from as if the sum were made", "[kernels]") {
    for (const Index size : {2, 511, 512, 513, 5000}) {
        const std::vector<float> row = exact_row(size);
        REQUIRE(row.back() > 0);
        for (int step = 0; step <= 4000; ++step) {
            const double u = step == 4000 ? last_coin : step / 4000.;
            REQUIRE(pick(row, u) == draw_index(RowWeights(as_row(row)), [u] { return u; }).index);
        }
    }
}

TEST_CASE("what lies behind the token that is drawn is not read", "[kernels]") {
    std::vector<float> row = exact_row(5000);
    numbers::write(row.back(), numbers::Special::nan);
    double sum = 0;
    for (std::size_t i = 0; i < 4000; ++i) sum += static_cast<double>(row[i]);
    CHECK(pick(row, 0) == 1);
    CHECK(pick(row, .99 * sum) >= 0);
}

TEST_CASE("a coin past the end of a rounded row draws the last entry with weight", "[kernels]") {
    CHECK(pick(std::vector<float>{.25f, .7495f, 0}, last_coin) == 1);
    CHECK(pick(std::vector<Eigen::bfloat16>(256, Eigen::bfloat16(.00387f)), last_coin) == 255);
}

TEST_CASE("a row that does not sum to 1 draws nothing past its end", "[kernels]") {
    CHECK(pick(std::vector<float>{.25f, .5f}, last_coin) == -1);
    CHECK(pick(std::vector<float>{.25f, .7475f}, last_coin) == -1);
    CHECK(pick(std::vector<float>{}, .5) == -1);
    CHECK(pick(std::vector<float>(700), .5) == -1);
    for (const auto special : {numbers::Special::nan, numbers::Special::minus_infinity}) {
        std::vector<float> row = exact_row(700);
        numbers::write(row[100], special);
        CHECK(pick(row, last_coin) == -1);
    }
}

TEST_CASE("a sparse row and a row of logits may be known to sum to 1", "[kernels]") {
    const std::vector<int> ids{3, 17, 90};
    const std::vector<float> probs{.25f, .5f, .25f}, logits{0, std::log(2.f), 0};
    for (const double u : {.1, .3, .7, .9}) {
        const Index expected = u < .25 ? 3 : u < .75 ? 17 : 90;
        CHECK(pick(Sparse(ids, probs, 100), u) == expected);
        CHECK(pick(Sparse(ids, Logits(logits), 100), u) == expected);
        CHECK(pick(Logits(logits), u) == (u < .25 ? 0 : u < .75 ? 1 : 2));
    }
}

// Ten million races against their weights.
#include <cmath>
#include <vector>

#include <specsample/random/draw.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/testing/distribution.hpp>

#include "exactness/cases.hpp"
#include "support/catch.hpp"

using namespace specsample;
using cases::chi_square;
using cases::TextDistribution;

namespace {

/// A row of random powers, some of them 0.
Eigen::VectorXf random_row(Index size, std::uint64_t seed, double zeros, double power) {
    const Rng noise({.seed = seed});
    Eigen::VectorXf row(size);
    for (Index i = 0; i < size; ++i) {
        const auto lane = static_cast<std::uint32_t>(i);
        const bool is_zero = noise.uniform(lane + 100000) < zeros;
        row[i] = is_zero ? 0 : static_cast<float>(std::pow(noise.open_uniform(lane), power));
    }
    return row;
}

}  // namespace

TEST_CASE("ten million races have the distribution of their weights", "[kernels]") {
    Eigen::VectorXf end = Eigen::VectorXf::Zero(320);
    end.tail(70) = random_row(70, 3, .3, 3);
    // Rows that fill a part of a block, sit at the end of the vocabulary, span blocks with zeros, and fill two blocks.
    for (const Eigen::VectorXf& row :
         {random_row(40, 1, 0, 2), end, random_row(200, 2, .8, 1), random_row(128, 4, .5, 6)}) {
        constexpr int races = 2'500'000;
        std::vector<int> won(static_cast<std::size_t>(row.size()));
        for (int i = 0; i < races; ++i)
            ++won[static_cast<std::size_t>(race(Rng({.seed = 77, .position = i, .purpose = Purpose::race}), row))];
        TextDistribution observed, expected;
        const double sum = row.cast<double>().sum();
        for (Token id = 0; id < row.size(); ++id) {
            if (won[static_cast<std::size_t>(id)] > 0) observed[{id}] = won[static_cast<std::size_t>(id)];
            if (row[id] > 0) expected[{id}] = static_cast<double>(row[id]) / sum;
        }
        CHECK(chi_square(observed, expected, races).holds());
    }
}

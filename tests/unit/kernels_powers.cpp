// Logits inside loops that sum them: a weight is the same number wherever it is used.
#include <cstdint>
#include <vector>

#include <specsample/kernels/overlap.hpp>
#include <specsample/kernels/residual.hpp>
#include <specsample/rows/logits.hpp>

#include "support/catch.hpp"
#include "support/uniforms.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

std::vector<float> logits_of_size(Index size, std::uint64_t seed) {
    Uniforms uniform{seed};
    std::vector<float> row;
    for (Index i = 0; i < size; ++i) row.push_back(static_cast<float>(20 * uniform() - 10));
    return row;
}

}  // namespace

// A compiler with a fused multiply-add may round the difference of two products once, so that p - p is not exactly 0.
TEST_CASE("the residual of a row of logits against itself is nothing, to the bit", "[kernels]") {
    for (const Index size : {1, 16, 63, 64, 65, 511, 512, 513, 5000}) {
        const auto row = logits_of_size(size, static_cast<std::uint64_t>(size));
        for (const double temperature : {.3, 1., 2.}) {
            const Logits distribution(row, temperature);
            const auto p = detail::as_row(distribution), q = detail::as_row(Logits(row, temperature));
            INFO("size " << size << ", temperature " << temperature);
            CHECK(ResidualWeights(p, q).sum(0, size) == 0);
        }
    }
}

TEST_CASE("sums of logits are those of their weights written down, whatever is read with them", "[kernels]") {
    for (const Index size : {1, 64, 65, 512, 700, 5000}) {
        const Logits target(logits_of_size(size, 1), .8), draft(logits_of_size(size, 2), 1.2);
        const auto p = detail::as_row(target), q = detail::as_row(draft);
        const Eigen::ArrayXf written_p = p, written_q = q;
        double residual = 0, common = 0;
        for (Index i = 0; i < size; ++i) {
            const double x = written_p[i], y = written_q[i];
            residual += x > y ? x - y : 0;
            common += x < y ? x : y;
        }
        INFO("size " << size);
        CHECK(std::abs(RowWeights(p).sum(0, size) - 1) < 1e-6);
        CHECK(std::abs(ResidualWeights(p, q).sum(0, size) - residual) < 1e-6);
        CHECK(std::abs(ResidualWeights(p, detail::as_row(written_q)).sum(0, size) - residual) < 1e-6);
        CHECK(std::abs(ResidualWeights(detail::as_row(written_p), q).sum(0, size) - residual) < 1e-6);
        CHECK(std::abs(overlap(draft, target) - common) < 1e-6);
    }
}

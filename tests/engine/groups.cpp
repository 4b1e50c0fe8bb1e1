// Products of codes in groups: against their definition, bit by bit, whatever instructions compute them; and against
// themselves with other numbers of positions and threads.
#include "engine/groups.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/checkpoints.hpp"
#include "engine/kernel.hpp"
#include "engine/team.hpp"
#include "engine/weights.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::same_bits;

namespace {

struct Sample {
    testing::Matrix matrix;
    testing::Codes codes;
    int bits;

    PackedMatrix packed() const {
        return GroupMatrix(matrix.rows, matrix.columns, bits, codes.codes, codes.scales, codes.minima);
    }
    int code(Index r, Index k) const {
        const auto place = static_cast<std::size_t>(r * matrix.columns + k);
        if (bits == 8) return static_cast<std::int8_t>(codes.codes[place]);
        return codes.codes[place / 2] >> 4 * (place % 2) & 15;
    }
};

Sample sample(Index rows, Index columns, int bits, unsigned seed) {
    testing::Uniform uniform(seed);
    Sample result{testing::random_matrix(rows, columns, uniform), {}, bits};
    result.codes = round_to_codes(result.matrix, bits);
    return result;
}

RowMatrix inputs(Index positions, Index columns, unsigned seed) {
    testing::Uniform uniform(seed);
    RowMatrix x = RowMatrix::NullaryExpr(
        positions, columns, [&] { return static_cast<float>((2 * uniform() - 1) * std::exp(6 * uniform() - 3)); });
    x.row(0).setZero();  // a group without a largest number
    x.row(positions - 1).head(32).setConstant(-3.0f);
    return x;
}

/// The definition: integers within a group, one rounding of the product of scales, and fused sums from group to group.
float defined(const Sample& s, Index r, const RowMatrix& x, Index position) {
    float sum = 0;
    for (Index group = 0; group < s.matrix.columns / 32; ++group) {
        float largest = 0;
        for (Index k = 0; k < 32; ++k) largest = std::max(largest, std::abs(x(position, 32 * group + k)));
        const float factor = largest / 127.0f;
        std::int32_t product = 0, total = 0;
        for (Index k = 32 * group; k < 32 * group + 32; ++k) {
            const float steps = largest > 0 ? x(position, k) * (127.0f / largest) : 0.0f;
            const auto rounded = static_cast<std::int32_t>(std::nearbyint(steps));
            product += s.code(r, k) * rounded;
            total += rounded;
        }
        const auto place = static_cast<std::size_t>(r * s.matrix.columns / 32 + group);
        sum = std::fma(static_cast<float>(s.codes.scales[place]) * factor, static_cast<float>(product), sum);
        if (s.bits == 4)
            sum = std::fma(static_cast<float>(s.codes.minima[place]), factor * static_cast<float>(total), sum);
    }
    return sum;
}

RowMatrix product(const PackedMatrix& packed, const RowMatrix& x) {
    RowMatrix y = RowMatrix::Constant(x.rows(), packed.rows() + 3, 1234.5f);
    multiply(packed, x, y);
    CHECK((y.rightCols(3).array() == 1234.5f).all());
    return y;
}

}  // namespace

TEST_CASE("groups: a product has the bits of its definition on every machine") {
    for (const int bits : {4, 8}) {
        for (const Index rows : {1, 7, 16, 37}) {
            for (const Index columns : {32, 96, 160}) {
                const Sample s = sample(rows, columns, bits, 3);
                const RowMatrix x = inputs(5, columns, 4);
                const RowMatrix y = product(s.packed(), x);
                for (Index i = 0; i < x.rows(); ++i) {
                    for (Index r = 0; r < rows; ++r) {
                        CAPTURE(bits, rows, columns, i, r);
                        CHECK(y(i, r) == defined(s, r, x, i));
                    }
                }
            }
        }
    }
}

TEST_CASE("groups: the largest codes and activations overflow nothing") {
    for (const int bits : {4, 8}) {
        Sample s = sample(17, 64, bits, 5);
        for (const int byte : {bits == 8 ? 0x81 : 0xff, bits == 8 ? 0x7f : 0xff}) {  // -127, 127; 15
            std::ranges::fill(s.codes.codes, static_cast<std::uint8_t>(byte));
            for (const float sign : {-1.0f, 1.0f}) {
                const RowMatrix x = RowMatrix::Constant(9, 64, sign);
                CHECK(product(s.packed(), x)(8, 16) == defined(s, 16, x, 8));
            }
        }
    }
}

TEST_CASE("groups: a position has the same bits in products of any number of positions, by any team") {
    Team teams[]{Team(1), Team(2), Team(3)};
    for (const int bits : {4, 8}) {
        const PackedMatrix packed = sample(300, 160, bits, 6).packed();
        const RowMatrix x = inputs(19, 160, 7);
        const RowMatrix all = product(packed, x);
        for (Index n = 1; n <= 19; ++n) {
            CAPTURE(bits, n);
            CHECK(same_bits(product(packed, x.bottomRows(n)), all.bottomRows(n)));
            for (Team& team : teams) {
                RowMatrix y = RowMatrix::Constant(n, 303, 1234.5f);
                multiply(packed, x.topRows(n), y, team);
                CHECK(same_bits(y, all.topRows(n)));
            }
        }
    }
}

TEST_CASE("groups: a matrix gives its rows back, and a selection of them") {
    for (const int bits : {4, 8}) {
        const Sample s = sample(37, 96, bits, 8);
        const PackedMatrix packed = s.packed();
        const std::vector<Index> chosen{36, 0, 5, 5, 17, 16, 15, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12};
        const PackedMatrix some = packed.select(chosen);
        REQUIRE(some.rows() == std::ssize(chosen));
        std::vector<float> row(96);
        for (Index r = 0; r < 37; ++r) {
            packed.copy_row(r, row.data());
            CHECK(std::equal(row.begin(), row.end(), s.matrix.values.begin() + r * 96));
        }
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            some.copy_row(static_cast<Index>(i), row.data());
            CHECK(std::equal(row.begin(), row.end(), s.matrix.values.begin() + chosen[i] * 96));
        }
        const RowMatrix x = inputs(3, 96, 9);
        const RowMatrix all = product(packed, x);
        const RowMatrix few = product(some, x);
        for (std::size_t i = 0; i < chosen.size(); ++i) CHECK(few(2, static_cast<Index>(i)) == all(2, chosen[i]));
        const auto padded = static_cast<std::size_t>(round_up(37, Dot::rows));
        CHECK(packed.bytes() == padded * 96 * static_cast<std::size_t>(bits) / 8 + padded * 3 * (bits == 4 ? 4 : 2));
    }
}

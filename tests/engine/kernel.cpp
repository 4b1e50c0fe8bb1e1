// The matrix product against plain sums in double precision, and against itself with other numbers of positions.
#include "engine/kernel.hpp"

#include <cmath>
#include <cstring>

#include "engine/checkpoints.hpp"
#include "engine/team.hpp"
#include "support/catch.hpp"

using namespace engine;
using testing::Matrix;

namespace {

constexpr float untouched = 1234.5f;

RowMatrix random_inputs(Index positions, Index width, testing::Uniform& uniform) {
    return RowMatrix::NullaryExpr(positions, width, [&] { return static_cast<float>(2 * uniform() - 1); });
}

PackedMatrix float32(const Matrix& m) {
    PackedMatrix packed(m.rows, m.columns);
    packed.set_rows(0, m.values);
    return packed;
}

PackedMatrix int8(const Matrix& m) { return {m.rows, m.columns, m.quantised, m.scales}; }

/// Largest error of y in units of float rounding of the sum's terms; infinite if y was written beyond its rows.
double worst_error(const Matrix& m, const RowMatrix& x, const RowMatrix& y) {
    double worst = 0;
    for (Index i = 0; i < x.rows(); ++i) {
        for (Index r = 0; r < m.rows; ++r) {
            double sum = 0;
            double magnitude = 0;
            for (Index k = 0; k < m.columns; ++k) {
                sum += m(r, k) * static_cast<double>(x(i, k));
                magnitude += std::abs(m(r, k) * static_cast<double>(x(i, k)));
            }
            worst = std::max(worst, std::abs(y(i, r) - sum) / (magnitude + 1e-30) / 0x1p-24);
        }
        if ((y.row(i).tail(y.cols() - m.rows).array() != untouched).any()) return INFINITY;
    }
    return worst;
}

RowMatrix product(const PackedMatrix& packed, const RowMatrix& x) {
    RowMatrix y = RowMatrix::Constant(x.rows(), packed.rows() + 3, untouched);
    multiply(packed, x, y);
    return y;
}

bool same_bits(const RowMatrix& a, const RowMatrix& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())) == 0;
}

}  // namespace

TEST_CASE("products of any shape are right, and the same bits for any number of positions") {
    testing::Uniform uniform(1);
    for (const Index rows : {1, 3, 8, 15, 16, 33, 64, 131, 300}) {
        for (const Index columns : {1, 4, 7, 18, 64}) {
            const Matrix m = testing::random_matrix(rows, columns, uniform);
            const RowMatrix x = random_inputs(27, round_up(columns, columns_per_word), uniform);
            for (const PackedMatrix& packed : {float32(m), int8(m)}) {
                const RowMatrix all = product(packed, x);
                CAPTURE(rows, columns);
                // One rounding per term, one for the scale and one for the dequantised value that we compare with.
                CHECK(worst_error(m, x, all) <= static_cast<double>(columns) + 3);
                for (Index n = 1; n <= 26; ++n) {
                    for (const Index first : {Index{0}, 27 - n}) {
                        const RowMatrix some = product(packed, x.middleRows(first, n));
                        CAPTURE(n, first);
                        CHECK(same_bits(some, all.middleRows(first, n)));
                    }
                }
            }
        }
    }
}

TEST_CASE("products have the same bits for a team of any size") {
    testing::Uniform uniform(3);
    Team teams[]{Team(1), Team(2), Team(3)};
    for (const Index rows : {1, 16, 17, 33, 131, 300}) {
        const Matrix m = testing::random_matrix(rows, 18, uniform);
        for (const PackedMatrix& packed : {float32(m), int8(m)}) {
            for (const Index positions : {1, 2, 5, 13}) {
                const RowMatrix x = random_inputs(positions, 20, uniform);
                const RowMatrix alone = product(packed, x);
                for (Team& team : teams) {
                    RowMatrix y = RowMatrix::Constant(positions, rows + 3, untouched);
                    multiply(packed, x, y, team);
                    CAPTURE(rows, positions, team.size());
                    CHECK(same_bits(y, alone));
                }
            }
        }
    }
}

TEST_CASE("a product cut into ranges of columns has the bits of the whole") {
    testing::Uniform uniform(4);
    constexpr Index columns = 23;
    for (const Index rows : {1, 16, 33, 70}) {
        const Index stride = columns * panel_rows;
        RowMatrix panels = random_inputs(divide_up(rows, panel_rows), stride, uniform);
        for (const Index positions : {1, 3, 13}) {
            const RowMatrix x = random_inputs(positions, columns, uniform);
            RowMatrix whole = RowMatrix::Constant(positions, rows + 3, untouched);
            multiply(PanelView<float>{panels.data(), stride, rows, columns}, x, whole);
            for (const Index cut : {1, 8, 22}) {
                RowMatrix y = RowMatrix::Constant(positions, rows + 3, untouched);
                multiply(PanelView<float>{panels.data(), stride, rows, cut}, x, y);
                multiply_add(PanelView<float>{panels.data() + cut * panel_rows, stride, rows, columns - cut},
                             x.rightCols(columns - cut), y);
                CAPTURE(rows, positions, cut);
                CHECK(same_bits(y, whole));
            }
        }
    }
}

TEST_CASE("a matrix gives its rows back and knows its size") {
    testing::Uniform uniform(2);
    const Matrix m = testing::random_matrix(37, 18, uniform);
    for (const PackedMatrix& packed : {float32(m), int8(m)}) {
        for (Index r = 0; r < m.rows; ++r) {
            std::vector<float> row(18);
            packed.copy_row(r, row.data());
            CHECK(std::equal(row.begin(), row.end(), m.values.begin() + r * m.columns));
        }
    }
    CHECK(float32(m).bytes() == static_cast<std::size_t>(round_up(37, panel_rows) * 18 * 4));
    CHECK(int8(m).bytes() == static_cast<std::size_t>(round_up(37, panel_rows) * (20 + 4)));
}

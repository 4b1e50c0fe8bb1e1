#include "engine/groups.hpp"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

constexpr int code_offset = 128;  // of stored 8-bit codes, which the instructions want without a sign
constexpr float largest_code = 127;

// How far ahead of the sums the codes are asked for. The hardware looks less far ahead.
constexpr int groups_ahead = 8;
constexpr int cache_line = 64;

template <class Scalar>
using Group = Eigen::Array<Scalar, group_columns, 1>;

/// Rounds one group. Returns the sum of its codes.
std::int32_t round_group(const Group<float>& values, std::int8_t* codes, float& scale) {
    const float largest = values.abs().maxCoeff();
    scale = largest / largest_code;
    const float to_codes = largest > 0 ? largest_code / largest : 0;
    const Group<std::int32_t> rounded = (values * to_codes).rint().cast<std::int32_t>();
    for (int i = 0; i < group_columns; ++i)
        codes[i] = static_cast<std::int8_t>(rounded[i]);  // Eigen has no packets of these
    return rounded.sum();
}

}  // namespace

void Activations::assign(const ConstRows& x, Index tile) {
    positions_ = x.rows();
    groups_ = x.cols() / group_columns;
    step_ = divide_up(positions_, divide_up(positions_, tile));  // evenly: 9 positions are 5 and 4, not 8 and 1
    const auto count = static_cast<std::size_t>(positions_ * groups_);
    codes_.resize(count * group_columns);
    scales_.resize(count);
    offsets_.resize(count);
    totals_.resize(count);
    for (Index position = 0; position < positions_; ++position) {
        const Index first = position / step_ * step_;
        const Index together = std::min(step_, positions_ - first);
        auto place = static_cast<std::size_t>(first * groups_ + position - first);
        const float* in = x.data() + position * x.outerStride();
        for (Index g = 0; g < groups_; ++g, in += group_columns, place += static_cast<std::size_t>(together)) {
            const std::int32_t sum =
                round_group(Eigen::Map<const Group<float>>(in), &codes_[place * group_columns], scales_[place]);
            offsets_[place] = -code_offset * sum;
            totals_[place] = scales_[place] * static_cast<float>(sum);
        }
    }
}

Activations::Tile Activations::tile(Index first) const {
    const auto place = static_cast<std::size_t>(first * groups_);
    const Index count = std::min(step_, positions_ - first);
    return {&codes_[place * group_columns], &scales_[place], &offsets_[place], &totals_[place], count};
}

GroupMatrix::GroupMatrix(Index rows, Index columns, int bits)
    : rows_(rows),
      columns_(columns),
      bits_(bits),
      codes_(static_cast<std::size_t>(panels() * groups() * group_bytes())),
      numbers_(static_cast<std::size_t>(panels() * groups() * numbers() * Dot::rows), Eigen::half(0)) {}

GroupMatrix::GroupMatrix(Index rows, Index columns, int bits, std::span<const std::uint8_t> codes,
                         std::span<const Eigen::half> scales, std::span<const Eigen::half> minima)
    : GroupMatrix(rows, columns, bits) {
    std::size_t in = 0;
    for (Index r = 0; r < rows; ++r) {
        for (Index column = 0; column < columns; ++column, ++in) {
            const int given = bits == 8 ? codes[in] + code_offset : codes[in / 2] >> 4 * (in % 2) & 15;
            codes_[code_place(r, column)] |= static_cast<std::uint8_t>(is_high(column) ? given << 4 : given);
        }
        for (Index group = 0; group < groups(); ++group) {
            const auto place = static_cast<std::size_t>(r * groups() + group);
            numbers_[number_place(r, group, 0)] = scales[place];
            if (bits == 4) numbers_[number_place(r, group, 1)] = minima[place];
        }
    }
}

GroupMatrix GroupMatrix::select(std::span<const Index> rows) const {
    GroupMatrix copy(std::ssize(rows), columns_, bits_);
    for (Index r = 0; r < copy.rows_; ++r) {
        const Index from = rows[static_cast<std::size_t>(r)];
        for (Index column = 0; column < columns_; ++column)
            copy.codes_[copy.code_place(r, column)] = codes_[code_place(from, column)];
        for (Index group = 0; group < groups(); ++group)
            for (Index which = 0; which < numbers(); ++which)
                copy.numbers_[copy.number_place(r, group, which)] = numbers_[number_place(from, group, which)];
    }
    return copy;
}

/// The byte that holds a row's code for a column.
std::size_t GroupMatrix::code_place(Index r, Index column) const {
    const Index within = column % (bits_ == 4 ? group_columns / 2 : group_columns);
    const Index word = (r / Dot::rows * groups() + column / group_columns) * bits_ + within / 4;
    return static_cast<std::size_t>(4 * (word * Dot::rows + r % Dot::rows) + within % 4);
}

std::size_t GroupMatrix::number_place(Index r, Index group, Index which) const {
    const Index place = (r / Dot::rows * groups() + group) * numbers() + which;
    return static_cast<std::size_t>(place * Dot::rows + r % Dot::rows);
}

int GroupMatrix::code(Index r, Index column) const {
    const int byte = codes_[code_place(r, column)];
    if (bits_ == 8) return byte - code_offset;
    return is_high(column) ? byte >> 4 : byte & 15;
}

float GroupMatrix::number(Index r, Index group, Index which) const {
    return static_cast<float>(numbers_[number_place(r, group, which)]);
}

void GroupMatrix::copy_row(Index r, float* out) const {
    for (Index group = 0; group < groups(); ++group) {
        const float scale = number(r, group, 0);
        const float minimum = bits_ == 4 ? number(r, group, 1) : 0.0f;
        for (Index column = group * group_columns; column < (group + 1) * group_columns; ++column)
            out[column] = std::fma(scale, static_cast<float>(code(r, column)), minimum);
    }
}

template <int Bits, int Positions>
void GroupMatrix::multiply_panel(Index panel, const Activations::Tile& x, float* y, Index stride) const {
    const std::uint8_t* codes = codes_.data() + panel * groups() * group_bytes();
    const Eigen::half* numbers = numbers_.data() + panel * groups() * this->numbers() * Dot::rows;
    constexpr int bytes = 4 * Dot::rows * Bits;
    Dot::Floats sums[Positions];
    for (auto& sum : sums) sum = Dot::zero();
    for (Index group = 0; group < groups(); ++group, codes += bytes) {
        for (int line = 0; line < bytes; line += cache_line) __builtin_prefetch(codes + groups_ahead * bytes + line);
        Dot::Integers integers[Positions];
        Dot::group<Bits, Positions>(codes, x.codes + group * Positions * group_columns, integers);
        const float* factors = x.scales + group * Positions;
        const std::int32_t* offsets = x.offsets + group * Positions;
        const float* totals = x.totals + group * Positions;
        const auto scale = Dot::halves(numbers);
        numbers += Dot::rows;
        for (int p = 0; p < Positions; ++p)
            sums[p] = Dot::scaled(scale, factors[p], integers[p], Bits == 8 ? offsets[p] : 0, sums[p]);
        if constexpr (Bits == 4) {
            const auto minimum = Dot::halves(numbers);
            numbers += Dot::rows;
            for (int p = 0; p < Positions; ++p) sums[p] = Dot::added(minimum, totals[p], sums[p]);
        }
    }
    for (int p = 0; p < Positions; ++p) store(sums[p], panel, y + p * stride);
}

/// Writes a panel's sums to those of its rows that the matrix has.
void GroupMatrix::store(const Dot::Floats& sums, Index panel, float* y) const {
    const Index first = panel * Dot::rows;
    if (first + Dot::rows <= rows_) return Dot::store(sums, y + first);
    float last[Dot::rows];
    Dot::store(sums, last);
    std::copy_n(last, rows_ - first, y + first);
}

/// Picks the instantiation for a run-time number of positions, at most `Positions`.
template <int Bits, int Positions>
void GroupMatrix::multiply_tile(Index panel, const Activations::Tile& x, float* y, Index stride) const {
    if constexpr (Positions > 1)
        if (x.count < Positions) return multiply_tile<Bits, Positions - 1>(panel, x, y, stride);
    multiply_panel<Bits, Positions>(panel, x, y, stride);
}

void GroupMatrix::multiply(const Activations& x, Rows& y, Index first, Index last) const {
    for (Index panel = first; panel < last; ++panel) {
        for (Index position = 0; position < x.positions(); position += x.step()) {
            float* const out = y.data() + position * y.outerStride();
            if (bits_ == 8)
                multiply_tile<8, Dot::max_positions<8>>(panel, x.tile(position), out, y.outerStride());
            else
                multiply_tile<4, Dot::max_positions<4>>(panel, x.tile(position), out, y.outerStride());
        }
    }
}

}  // namespace engine

#include "engine/groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace engine {
namespace {

constexpr int code_offset = 128;  // of stored 8-bit codes, which the instructions want without a sign
constexpr float largest_code = 127;

// How far ahead of the sums the codes are asked for. The hardware looks less far ahead.
constexpr int groups_ahead = 8;
constexpr int cache_line = 64;

template <class Scalar>
using Group = Eigen::Array<Scalar, group_columns, 1>;

/// The largest of some numbers, halves first: Eigen's own reduction of the widest registers goes through memory.
template <int count>
float largest_of(const Eigen::Array<float, count, 1>& values) {
    if constexpr (count == 4)
        return values.maxCoeff();
    else
        return largest_of<count / 2>(values.template head<count / 2>().max(values.template tail<count / 2>()));
}

/// Rounds one group to codes of `bytes` bytes. Returns their sum.
std::int32_t round_group(const Group<float>& values, std::int8_t* codes, Index bytes, float& scale) {
    const float largest = largest_of<group_columns>(values.abs());
    scale = largest / largest_code;
    const float to_codes = largest > 0 ? largest_code / largest : 0;
    std::array<std::int32_t, group_columns> rounded;  // loops that compilers vectorise; Eigen has no packets of bytes
    for (std::size_t i = 0; i < rounded.size(); ++i)
        rounded[i] = static_cast<std::int32_t>(std::rint(values[static_cast<Index>(i)] * to_codes));
    const auto store = [&]<class Code>(Code) {
        std::array<Code, group_columns> narrow;
        for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<Code>(rounded[i]);
        std::memcpy(codes, narrow.data(), sizeof narrow);
    };
    bytes == 1 ? store(std::int8_t{}) : store(std::int16_t{});
    return std::accumulate(rounded.begin(), rounded.end(), std::int32_t{0});
}

}  // namespace

void Activations::resize(Index positions, Index columns, Form form) {
    positions_ = positions;
    groups_ = columns / group_columns;
    step_ = divide_up(positions_, divide_up(positions_, form.tile));  // evenly: 9 positions are 5 and 4, not 8 and 1
    bytes_ = form.bytes;
    const auto count = static_cast<std::size_t>(positions_ * groups_);
    codes_.resize(count * group_size());
    scales_.resize(count);
    offsets_.resize(count);
    totals_.resize(count);
}

void Activations::round(Index first, Index column, const ConstRows& x) {
    for (Index i = 0; i < x.rows(); ++i) {
        const Index position = first + i;
        const Index tile = position / step_ * step_;
        const Index together = std::min(step_, positions_ - tile);
        auto place = static_cast<std::size_t>(tile * groups_ + column / group_columns * together + position - tile);
        const float* in = x.data() + i * x.outerStride();
        for (Index k = 0; k < x.cols(); k += group_columns, place += static_cast<std::size_t>(together)) {
            const std::int32_t sum = round_group(Eigen::Map<const Group<float>>(in + k), &codes_[place * group_size()],
                                                 bytes_, scales_[place]);
            offsets_[place] = -code_offset * sum;
            totals_[place] = scales_[place] * static_cast<float>(sum);
        }
    }
}

Activations::Tile Activations::tile(Index first) const {
    const auto place = static_cast<std::size_t>(first * groups_);
    const Index count = std::min(step_, positions_ - first);
    return {&codes_[place * group_size()], &scales_[place], &offsets_[place], &totals_[place], count};
}

GroupMatrix::GroupMatrix(Index rows, Index columns, int bits, std::shared_ptr<Arena> arena)
    : rows_(rows), columns_(columns), bits_(bits) {
    if (!arena) arena = std::make_shared<Arena>(bytes());
    memory_ = arena->take<std::uint8_t>(bytes());
}

GroupMatrix::GroupMatrix(Index rows, Index columns, int bits, std::span<const std::uint8_t> codes,
                         std::span<const Eigen::half> scales, std::span<const Eigen::half> minima,
                         std::shared_ptr<Arena> arena)
    : GroupMatrix(rows, columns, bits, std::move(arena)) {
    std::size_t in = 0;
    for (Index r = 0; r < rows; ++r) {
        for (Index column = 0; column < columns; ++column, ++in) {
            const int given = bits == 8 ? codes[in] + code_offset : codes[in / 2] >> 4 * (in % 2) & 15;
            code_byte(r, column) |= static_cast<std::uint8_t>(is_high(column) ? given << 4 : given);
        }
        for (Index group = 0; group < groups(); ++group) {
            const auto place = static_cast<std::size_t>(r * groups() + group);
            number(r, group, 0) = scales[place];
            if (bits == 4) number(r, group, 1) = minima[place];
        }
    }
}

GroupMatrix GroupMatrix::select(std::span<const Index> rows, Index room) const {
    GroupMatrix copy(std::ssize(rows) + room, columns_, bits_, nullptr);
    copy.truncate(0);
    for (const Index r : rows) copy.append(*this, r);
    return copy;
}

void GroupMatrix::append(const GroupMatrix& from, Index r) {
    for (Index column = 0; column < columns_; ++column) code_byte(rows_, column) = from.code_byte(r, column);
    for (Index group = 0; group < groups(); ++group)
        for (Index which = 0; which < numbers(); ++which) number(rows_, group, which) = from.number(r, group, which);
    ++rows_;
}

/// The byte that holds a row's code for a column.
std::uint8_t& GroupMatrix::code_byte(Index r, Index column) const {
    const Index size = bits_ == 4 ? Dot::columns_per_word<4> : Dot::columns_per_word<8>;  // of a word
    const Index within = column % (bits_ == 4 ? group_columns / 2 : group_columns);
    const Index word = within / size;
    return memory_[group_place(r, column / group_columns) + (word * Dot::rows + r % Dot::rows) * size + within % size];
}

Eigen::half& GroupMatrix::number(Index r, Index group, Index which) const {
    auto* const numbers = reinterpret_cast<Eigen::half*>(&memory_[group_place(r, group) + code_bytes()]);
    return numbers[which * Dot::rows + r % Dot::rows];
}

int GroupMatrix::code(Index r, Index column) const {
    const int byte = code_byte(r, column);
    if (bits_ == 8) return byte - code_offset;
    return is_high(column) ? byte >> 4 : byte & 15;
}

void GroupMatrix::copy_row(Index r, float* out) const {
    for (Index group = 0; group < groups(); ++group) {
        const auto scale = static_cast<float>(number(r, group, 0));
        const auto minimum = bits_ == 4 ? static_cast<float>(number(r, group, 1)) : 0.0f;
        for (Index column = group * group_columns; column < (group + 1) * group_columns; ++column)
            out[column] = std::fma(scale, static_cast<float>(code(r, column)), minimum);
    }
}

template <int Bits, int Positions>
void GroupMatrix::multiply_panel(Index panel, const Activations::Tile& x, float* y, Index stride) const {
    constexpr int code_bytes = 4 * Dot::rows * Bits;
    constexpr int bytes = code_bytes + (Bits == 4 ? 2 : 1) * Dot::rows * int{sizeof(Eigen::half)};
    const std::uint8_t* codes = &memory_[panel * groups() * bytes];
    Dot::Floats sums[Positions];
    for (auto& sum : sums) sum = Dot::zero();
    for (Index group = 0; group < groups(); ++group, codes += bytes) {
        for (int line = 0; line < bytes; line += cache_line) __builtin_prefetch(codes + groups_ahead * bytes + line);
        const auto* numbers = reinterpret_cast<const Eigen::half*>(codes + code_bytes);
        Dot::Integers integers[Positions];
        Dot::group<Bits, Positions>(codes, x.codes + group * Positions * group_columns * Dot::activation_bytes<Bits>,
                                    integers);
        const float* factors = x.scales + group * Positions;
        const std::int32_t* offsets = x.offsets + group * Positions;
        const float* totals = x.totals + group * Positions;
        const auto scale = Dot::halves(numbers);
        for (int p = 0; p < Positions; ++p)
            sums[p] = Dot::scaled(scale, factors[p], integers[p], Bits == 8 ? offsets[p] : 0, sums[p]);
        if constexpr (Bits == 4) {
            const auto minimum = Dot::halves(numbers + Dot::rows);
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

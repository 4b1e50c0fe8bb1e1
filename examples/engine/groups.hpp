#pragma once

// Matrices of 8- or 4-bit codes in groups of 32 columns, as GGUF files have them, and their product with activations
// that are rounded to 8 bits, group by group.
//
//     weight = scale * code            (8 bits, codes -127 to 127)
//     weight = scale * code + minimum  (4 bits, codes 0 to 15)
//
// A group's scale and minimum are float16. An activation is scale * code with the scale of its own position and group,
// so a position's bits depend neither on the others of its pass nor on the instructions of the machine: the sums over a
// group are integers, and the groups are added up in order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/dot.hpp"
#include "engine/rows.hpp"

namespace engine {

/// Activations of a few positions, rounded to 8 bits.
class Activations {
  public:
    /// Rounds the rows of x, which have whole groups, for products that take `tile` positions at a time.
    void assign(const ConstRows& x, Index tile);

    /// The positions from `first` on that a product takes together: per group, the numbers of these positions in turn.
    struct Tile {
        const std::int8_t* codes;
        const float* scales;
        const std::int32_t* offsets;  ///< -128 * sum of a group's codes: undoes the + 128 of a matrix's 8-bit codes
        const float* totals;          ///< scale * sum of a group's codes: meets a matrix's minima
        Index count;
    };
    Tile tile(Index first) const;
    Index positions() const { return positions_; }
    Index step() const { return step_; }

  private:
    Index positions_ = 0;
    Index groups_ = 0;
    Index step_ = 1;  // positions per tile; the last one may have fewer
    std::vector<std::int8_t> codes_;
    std::vector<float> scales_;
    std::vector<std::int32_t> offsets_;
    std::vector<float> totals_;
};

class GroupMatrix {
  public:
    GroupMatrix() = default;

    /// From row-major codes as files have them: for 8 bits one int8 per column; for 4 bits a byte per two columns, the
    /// even one in the low half. Scales and, for 4 bits, minima: one per row and group. `columns` has whole groups.
    GroupMatrix(Index rows, Index columns, int bits, std::span<const std::uint8_t> codes,
                std::span<const Eigen::half> scales, std::span<const Eigen::half> minima);

    /// Writes row r as floats to the first columns() elements of `out`.
    void copy_row(Index r, float* out) const;

    /// A copy of these rows, in this order. A product with it has the bits of these rows of the whole product.
    GroupMatrix select(std::span<const Index> rows) const;

    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    std::size_t bytes() const { return codes_.size() + sizeof(Eigen::half) * numbers_.size(); }

    Index panels() const { return divide_up(rows_, Dot::rows); }
    Index tile() const { return bits_ == 8 ? Dot::max_positions<8> : Dot::max_positions<4>; }  ///< for Activations

    /// y(i, r) for the rows r of the panels [first, last) and all positions i of x.
    void multiply(const Activations& x, Rows& y, Index first, Index last) const;

  private:
    GroupMatrix(Index rows, Index columns, int bits);

    Index groups() const { return columns_ / group_columns; }
    Index group_bytes() const { return 4 * Dot::rows * bits_; }
    Index numbers() const { return bits_ == 4 ? 2 : 1; }  // per row and group
    std::size_t code_place(Index r, Index column) const;
    std::size_t number_place(Index r, Index group, Index which) const;
    bool is_high(Index column) const { return bits_ == 4 && column % group_columns >= group_columns / 2; }
    int code(Index r, Index column) const;
    float number(Index r, Index group, Index which) const;

    template <int Bits, int Positions>
    void multiply_panel(Index panel, const Activations::Tile& x, float* y, Index stride) const;
    void store(const Dot::Floats& sums, Index panel, float* y) const;
    template <int Bits, int Positions>
    void multiply_tile(Index panel, const Activations::Tile& x, float* y, Index stride) const;

    Index rows_ = 0;
    Index columns_ = 0;
    int bits_ = 8;
    std::vector<std::uint8_t> codes_;   // panel by panel, group by group: see dot.hpp; 8-bit ones are stored + 128
    std::vector<Eigen::half> numbers_;  // panel by panel, group by group: the scales of its rows, then their minima
};

}  // namespace engine

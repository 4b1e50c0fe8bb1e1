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
#include <memory>
#include <span>
#include <vector>

#include "engine/arena.hpp"
#include "engine/dot.hpp"
#include "engine/rows.hpp"

namespace engine {

/// Activations of a few positions, rounded to 8 bits.
class Activations {
  public:
    /// How the product with a matrix takes them.
    struct Form {
        Index tile;  ///< positions at a time, at most
        int bytes;   ///< of a code: 1 or 2
    };

    /// Makes room for so many positions and columns, whole groups.
    void resize(Index positions, Index columns, Form form);

    /// Rounds whole groups: row i of x belongs to position first + i, and to the columns from `column` on. Several
    /// threads may round a part each.
    void round(Index first, Index column, const ConstRows& x);

    /// The positions from `first` on that a product takes together: per group, the numbers of these positions in turn.
    struct Tile {
        const std::int8_t* codes;  ///< bytes
        const float* scales;
        const std::int32_t* offsets;  ///< -128 * sum of a group's codes: undoes the + 128 of a matrix's 8-bit codes
        const float* totals;          ///< scale * sum of a group's codes: meets a matrix's minima
        Index count;
    };
    Tile tile(Index first) const;
    Index positions() const { return positions_; }
    Index step() const { return step_; }

  private:
    std::size_t group_size() const { return static_cast<std::size_t>(group_columns * bytes_); }

    Index positions_ = 0;
    Index groups_ = 0;
    Index step_ = 1;   // positions per tile; the last one may have fewer
    Index bytes_ = 1;  // per code
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
    /// The matrix is in the arena; null: in one of its own.
    GroupMatrix(Index rows, Index columns, int bits, std::span<const std::uint8_t> codes,
                std::span<const Eigen::half> scales, std::span<const Eigen::half> minima,
                std::shared_ptr<Arena> arena = nullptr);

    /// Writes row r as floats to the first columns() elements of `out`.
    void copy_row(Index r, float* out) const;

    /// A copy of these rows, in this order, with memory for `room` more. A product with it has the bits of these rows
    /// of the whole product.
    GroupMatrix select(std::span<const Index> rows, Index room = 0) const;

    /// Appends row r of a matrix with the same columns and bits; there must be room. Not for copies that share memory.
    void append(const GroupMatrix& from, Index r);

    /// Drops all rows from `rows` on, which leaves room for as many.
    void truncate(Index rows) { rows_ = rows; }

    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    std::size_t bytes() const { return static_cast<std::size_t>(panels() * groups() * group_bytes()); }

    Index panels() const { return divide_up(rows_, Dot::rows); }

    /// What its products take.
    Activations::Form form() const {
        if (bits_ == 8) return {Dot::max_positions<8>, Dot::activation_bytes<8>};
        return {Dot::max_positions<4>, Dot::activation_bytes<4>};
    }

    /// y(i, r) for the rows r of the panels [first, last) and all positions i of x.
    void multiply(const Activations& x, Rows& y, Index first, Index last) const;

  private:
    GroupMatrix(Index rows, Index columns, int bits, std::shared_ptr<Arena> arena);

    Index groups() const { return columns_ / group_columns; }
    Index code_bytes() const { return 4 * Dot::rows * bits_; }  // of a panel's group
    Index numbers() const { return bits_ == 4 ? 2 : 1; }        // per row and group
    Index group_bytes() const { return code_bytes() + numbers() * Dot::rows * Index{sizeof(Eigen::half)}; }
    Index group_place(Index r, Index group) const { return (r / Dot::rows * groups() + group) * group_bytes(); }
    std::uint8_t& code_byte(Index r, Index column) const;
    Eigen::half& number(Index r, Index group, Index which) const;
    bool is_high(Index column) const { return bits_ == 4 && column % group_columns >= group_columns / 2; }
    int code(Index r, Index column) const;

    template <int Bits, int Positions>
    void multiply_panel(Index panel, const Activations::Tile& x, float* y, Index stride) const;
    void store(const Dot::Floats& sums, Index panel, float* y) const;
    template <int Bits, int Positions>
    void multiply_tile(Index panel, const Activations::Tile& x, float* y, Index stride) const;

    Index rows_ = 0;
    Index columns_ = 0;
    int bits_ = 8;
    // Panel by panel, group by group, so that a product reads one stream: the codes (dot.hpp; 8-bit ones are stored
    // + 128), the scales of the panel's rows, and with 4 bits their minima. Copies of a matrix share it.
    std::shared_ptr<std::uint8_t[]> memory_;
};

}  // namespace engine

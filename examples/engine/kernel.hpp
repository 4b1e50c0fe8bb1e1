#pragma once

// The engine's one matrix product.
//
// * PanelView      a matrix in the order in which the product reads it; does not own its memory
// * PackedMatrix   owns such a matrix: float32, int8 with one float32 scale per row, or codes in groups (groups.hpp)
// * Inputs         what the products of a pass read, written part by part
// * multiply       y = x * matrix^T for any number of positions (rows of x), reading the matrix once
//
// Every output element is one chain of multiply-adds over the columns 0, 1, 2, ... whatever else is computed beside it,
// so a position's result has the same bits in a pass over one position and in a pass over many. Eigen's own products
// choose their summation order by shape, which is why they are not used here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "engine/groups.hpp"
#include "engine/rows.hpp"

namespace engine {

class Inputs;
class Team;

/// Rows per panel: as many as one SIMD register holds floats. A panel stores column 0 of its rows, then column 1, ...
inline constexpr Index panel_rows = Eigen::internal::packet_traits<float>::size;

/// Columns that share one 32-bit word of an int8 panel.
inline constexpr Index columns_per_word = 4;

/// A rows x columns matrix of which panel i starts at data + i * stride. With Stored = int32_t a word holds four
/// neighbouring int8 of one row, the first in the lowest byte, and `scales` multiplies the rows at the end.
template <class Stored>
struct PanelView {
    const Stored* data;
    Index stride;
    Index rows;
    Index columns;
    const float* scales = nullptr;
};

/// y(i, r) = sum over k of x(i, k) * matrix(r, k). Columns of x that only pad the last int8 word must be finite.
void multiply(const PanelView<float>& matrix, const ConstRows& x, Rows y);

/// y(i, r) += the same sum, where every chain of multiply-adds continues from the value in y: a product that is cut
/// into ranges of columns, taken in order, has the bits of the whole. The matrix has no scales.
void multiply_add(const PanelView<float>& matrix, const ConstRows& x, Rows y);

class PackedMatrix {
  public:
    PackedMatrix() = default;

    /// A float32 matrix of zeros, to be filled by set_rows.
    PackedMatrix(Index rows, Index columns);

    /// An int8 matrix from its row-major values and one scale per row.
    PackedMatrix(Index rows, Index columns, std::span<const std::int8_t> values, std::span<const float> scales);

    PackedMatrix(GroupMatrix groups) : rows_(groups.rows()), columns_(groups.columns()), panels_(std::move(groups)) {}

    /// Overwrites whole rows of a float32 matrix from row-major values.
    void set_rows(Index first, std::span<const float> values);

    /// Writes row r as floats to the first columns() elements of `out`.
    void copy_row(Index r, float* out) const;

    /// A copy of these rows, in this order, with memory for `room` more. A product with it has the bits of these rows
    /// of the whole product.
    PackedMatrix select(std::span<const Index> rows, Index room = 0) const;

    /// Appends row r of the matrix that this one was selected from; there must be room. Not for copies of groups.
    void append(const PackedMatrix& from, Index r);

    /// Drops all rows from `rows` on, which leaves room for as many.
    void truncate(Index rows);

    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    std::size_t bytes() const;

    /// y(i, r) for the rows r of the panels that hold the rows [first, last).
    void multiply_rows(const Inputs& x, Rows y, Index first, Index last) const;

    /// Is a product with so many positions worth the time that waking a team takes?
    bool is_worth_sharing(Index positions) const;

    /// Rows of a panel: parts of a product begin at multiples.
    Index granule() const;

    friend class Inputs;
    friend void multiply(const PackedMatrix& matrix, const ConstRows& x, Rows y, Team& team);

  private:
    using Floats = Eigen::ArrayXf;
    using Words = Eigen::Array<std::int32_t, Eigen::Dynamic, 1>;

    void multiply_rows(const ConstRows& x, Rows& y, Index first, Index last) const;  // not for groups

    Index rows_ = 0;
    Index columns_ = 0;
    std::variant<Floats, Words, GroupMatrix> panels_;
    Floats scales_;  // of Words only; one per row, zero beyond the last
};

/// The inputs of a product at all positions of a pass: floats, or, for a matrix of groups, rounded. Several threads may
/// write a part each, so what one of them has computed goes to the others as the product reads it: rounded, a quarter
/// of the bytes.
class Inputs {
  public:
    /// Makes room for a product with this matrix at so many positions.
    void prepare(const PackedMatrix& matrix, Index positions);

    /// Row i of `x` belongs to position first + i, and to the columns from `column` on. A matrix of groups needs whole
    /// groups.
    void write(Index first, Index column, const ConstRows& x);

    Index positions() const { return positions_; }

  private:
    friend class PackedMatrix;

    Index positions_ = 0;
    bool are_rounded_ = false;
    RowMatrix floats_;
    Activations rounded_;
};

/// The rows of the matrix are split over the team; y has the same bits for a team of any size.
void multiply(const PackedMatrix& matrix, const Inputs& x, Rows y, Team& team);
void multiply(const PackedMatrix& matrix, const ConstRows& x, Rows y, Team& team);
void multiply(const PackedMatrix& matrix, const ConstRows& x, Rows y);

}  // namespace engine

// The target's rows, as a walk reads them: each is asked for once on the way down.
#pragma once

#include <optional>
#include <utility>

#include <specsample/rows/owner.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The target's rows, as a walk reads them. Row 0 is read before the walk, for the size of the vocabulary, and kept
/// until the walk asks for it: a computed row costs a pass of the model or a shaping, so no row is asked for twice on
/// the way down.
template <class Rows>
class TargetRows {
  public:
    using Row = RowRef<Element<Rows>>;
    /// True if every row exists already, so that a check of all rows computes none.
    static constexpr bool are_supplied = is_supplied<Rows>;

    explicit TargetRows(Rows& rows) : rows_(rows), first_(std::in_place, element(rows, 0)) {}

    Index vocab() const { return first_->size(); }
    /// Return row 0 as it was given. Valid only before row(0) is called.
    const auto& first() const { return first_->row(); }

    /// Return row i, counted from 0.
    Row row(Index i) {
        if (i != 0 || !first_) return Row(element(rows_, i));
        Row row(std::move(*first_));
        first_.reset();
        return row;
    }

    /// Return how many rows exist already; `most` if the source does not know its size.
    Index supplied(Index most) const { return are_supplied ? element_count(rows_).value_or(most) : 0; }

  private:
    Rows& rows_;
    std::optional<Row> first_;
};

}}}  // namespace specsample::detail

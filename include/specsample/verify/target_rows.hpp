// The target's rows, as a walk reads them: each is asked for once on the way down.
#pragma once

#include <optional>
#include <utility>

#include <specsample/rows/owner.hpp>
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The target's rows, as a walk reads them. Row 0 gives the vocabulary its size, before any walk, and is kept for the
/// first who asks for it: a computed row costs a model's pass or a shaping, so none is asked for twice on the way down.
template <class Rows>
class TargetRows {
  public:
    using Row = RowRef<Element<Rows>>;
    /// Whether every row exists already, so that a check of all of them computes none.
    static constexpr bool are_supplied = is_supplied<Rows>;

    explicit TargetRows(Rows& rows) : rows_(rows), first_(std::in_place, element(rows, 0)) {}

    Index vocab() const { return first_->size(); }
    /// Row 0, as it was given, while no one has asked for it.
    const auto& first() const { return first_->row(); }

    /// Row i, 0 the first.
    Row row(Index i) {
        if (i != 0 || !first_) return Row(element(rows_, i));
        Row row(std::move(*first_));
        first_.reset();
        return row;
    }

    /// The number of rows that exist already; `most` if the source does not know.
    Index supplied(Index most) const { return are_supplied ? element_count(rows_).value_or(most) : 0; }

  private:
    Rows& rows_;
    std::optional<Row> first_;
};

}}}  // namespace specsample::detail

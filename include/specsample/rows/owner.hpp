// Rows that own their numbers, and rows that borrow them.
//
//   RowRef                one row, borrowed until its source is asked for another
//   OwnedRow              one row, owned
//   Part, StoredAs        how Logits and Sparse store the row of numbers that they are made from
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/row.hpp>
#include <specsample/rows/returned.hpp>  // IWYU pragma: export
#include <specsample/rows/rows.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The template argument for a part, a row or ids, that a row is made from. An owner given by value is moved in. An
/// owner given by reference becomes `const Owner&`: the row views it, and may dangle. Anything else is copied.
template <class Given, class R = std::remove_cvref_t<Given>>
using Part = std::conditional_t<std::is_lvalue_reference_v<Given> && !StatedRow<R> && owns<R>, const R&, R>;

/// Whether a row is stored as it is: it owns its numbers, states their encoding, or is a value.
template <class R>
inline constexpr bool is_stored_whole = StatedRow<R> || RowValue<R> || !borrows<R>;

/// The type in which a row R is stored: itself, or a view of it.
template <class R, bool = is_stored_whole<R>>
struct StoredRow {
    using type = std::remove_cvref_t<R>;
};
template <class R>
struct StoredRow<R, false> {
    using type = row_view_t<R>;
};
template <class R>
using StoredAs = typename StoredRow<R>::type;

template <class R, class Given>
StoredAs<R> store_row(Given&& row) {
    if constexpr (is_stored_whole<R>) {
        return std::forward<Given>(row);
    } else {
        return as_row(row);
    }
}

/// One row of a source: a view of the source's memory, or the row itself where the source returned it by value.
template <class Answer>
class RowRef {
    static constexpr bool is_pointed_at = std::is_lvalue_reference_v<Answer> && StatedRow<std::remove_cvref_t<Answer>>;
    using Stored = std::conditional_t<is_pointed_at, const std::remove_cvref_t<Answer>*, StoredAs<Answer>>;

    static Stored store(Answer&& row) {
        if constexpr (is_pointed_at) {
            return &row;
        } else {
            return store_row<Answer>(std::forward<Answer>(row));
        }
    }

  public:
    explicit RowRef(Answer&& row) : row_(store(std::forward<Answer>(row))) {}

    /// Return the row in the form in which the source gave it.
    const auto& row() const {
        if constexpr (is_pointed_at)
            return *row_;
        else
            return row_;
    }

    /// Return the row's probabilities.
    auto view() const { return as_row(row()); }
    Index size() const { return row_size(row()); }

  private:
    Stored row_;
};

/// The type of a copy of a row.
template <class R>
struct CopyOf {
    using type = std::vector<row_scalar_t<R>>;  // an Eigen::Array would allocate whenever the size changes
};
template <StatedRow R>
struct CopyOf<R> {
    using type = typename R::Owned;
};

/// Copy a row into memory that is reused.
template <class R>
void copy_row(const R& row, typename CopyOf<R>::type& copy) {
    if constexpr (StatedRow<R>) {
        row.copy_to(copy);
    } else {
        const auto view = as_row(row);
        copy.resize(static_cast<std::size_t>(view.size()));
        Eigen::Map<Eigen::Array<row_scalar_t<R>, Eigen::Dynamic, 1>>(copy.data(), view.size()) = view;
    }
}

/// A row that outlives its source's next call: moved in if it is returned by value and owns its numbers, else copied
/// into memory that is reused.
template <class Answer>
class OwnedRow {
    using R = std::remove_cvref_t<Answer>;
    using Stored = typename std::conditional_t<borrows<Answer>, CopyOf<R>, std::type_identity<R>>::type;

  public:
    using View = row_view_t<Stored>;

    template <RowLike Given>
    void keep(Given&& row) {
        if constexpr (std::same_as<std::remove_cvref_t<Given>, Stored>) {
            row_ = std::forward<Given>(row);
        } else {
            copy_row(row, row_);
        }
    }

    const Stored& row() const { return row_; }
    View view() const { return as_row(row_); }

  private:
    Stored row_;
};

}}}  // namespace specsample::detail

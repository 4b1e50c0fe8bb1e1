// The lists that a round reads: the distributions of drafted nodes, which are one for all nodes (PointMass{}), anything
// indexed [i], or a callable of i; and the target's rows, each of which is asked for once on the way down.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <specsample/core/borrowed.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/rows/owner.hpp>
#include <specsample/rows/rows.hpp>
#include <specsample/tree/distribution.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// One distribution for all nodes, or one per node.
template <class L>
concept DraftDistributions =
    DraftDistribution<std::remove_cvref_t<L>> || ((std::invocable<L&, Index> || detail::Indexed<L>)&&requires {
        requires DraftDistribution<std::remove_cvref_t<detail::Element<L>>>;
    });

/// Return the distribution of a node.
template <DraftDistributions L>
decltype(auto) distribution_at(L& distributions, Index node) {
    if constexpr (DraftDistribution<std::remove_cvref_t<L>>) {
        return (distributions);
    } else {
        return element(distributions, node);
    }
}

/// The smallest rest (sum of the ids not removed) of a row that a token is judged by. A token drawn from a smaller rest
/// counts as a point mass.
///
/// This is exact for any bound. The rest depends on the row and the older siblings, not on the token x itself, and a
/// point mass is exact whatever x was drawn from: the rule keeps x with probability s(x) and otherwise draws another
/// token from s without x, which together gives s. The bound 2^-24 ensures that
///
///   - x is judged by nearly the distribution that it was drawn from. A race compares logits in double, but a rule
///     reads weights: in float, their relative error grows by 1.3e-7 with every power of two below the largest weight.
///     At this rest or more, the total variation of the two is below 4e-6 (for logits in double: below 1e-13)
///   - the weight of x is positive. Weights in float are 0 below 2^-126: all such ids together are drawn with a
///     probability below V 2^-102
///   - the factor on the subtracted row is finite: see largest_factor
inline constexpr double least_rest = 0x1p-24;

/// The largest factor D / (c rest) with which a draft row is subtracted from the target's. Its product with an entry is
/// finite in float, so that 0 times the factor is 0. A larger factor would need c < 2^-102, because the rest is at
/// least 2^-24. So this bound only changes residuals c o / D whose mass is at most such a c.
inline constexpr double largest_factor = 0x1p126;

/// The type of a view of the rows behind distributions of type L; `Other` if they have none.
template <class L, class Other>
struct RowBehind {
    using type = Other;
};
template <RowDistribution L, class Other>
struct RowBehind<L, Other> {
    using type = std::remove_cvref_t<decltype(std::declval<const L&>().row())>;
};

/// The type in which a list returns its rows: a view where it has their numbers in memory, so that lists of all kinds
/// return the same; otherwise the row itself.
template <class Answer>
using ListedRow = std::conditional_t<std::is_lvalue_reference_v<Answer> && StatedRow<std::remove_cvref_t<Answer>>,
                                     const std::remove_cvref_t<Answer>&, StoredAs<Answer>>;

/// The target's rows behind one type, whatever list or callable returns them: rounds share their code.
/// @tparam R   a ListedRow
template <class R>
class RowList {
  public:
    /// @param rows   borrowed
    template <class Rows>
        requires(!std::same_as<std::remove_const_t<Rows>, RowList>)
    explicit RowList(Rows& rows)
        : rows_(address_of_any(rows)), row_(row_of<Rows>), count_(element_count(rows)), exist_(rows_exist(rows)) {}

    R operator()(Index i) const { return row_(rows_, i); }
    Index count() const { return count_; }  ///< -1 if the source does not know it
    bool exist() const { return exist_; }

  private:
    template <class Rows>
    static R row_of(void* list, Index i) {
        auto& rows = any_at<Rows>(list);
        if constexpr (std::is_reference_v<R>)
            return element(rows, i);
        else
            return store_row<Element<Rows>>(element(rows, i));
    }

    void* rows_;
    R (*row_)(void*, Index);
    Index count_;
    bool exist_;
};
template <class Rows>
explicit RowList(Rows&) -> RowList<ListedRow<Element<Rows>>>;

template <class R>
bool rows_exist(const RowList<R>& rows) {
    return rows.exist();
}

/// The target's rows, as a walk reads them. Row 0 is read before the walk, for the size of the vocabulary, and kept
/// until the walk asks for it: a computed row costs a pass of the model or a shaping, so no row is asked for twice on
/// the way down.
template <class Rows>
class TargetRows {
  public:
    using Row = RowRef<Element<Rows>>;
    explicit TargetRows(Rows& rows) : rows_(rows), first_(std::in_place, element(rows, 0)) {}

    /// Tell whether every row exists already, so that a check of all rows computes none.
    EIGEN_ALWAYS_INLINE bool are_supplied() const { return rows_exist(rows_); }
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
    Index supplied(Index most) const { return are_supplied() ? element_count(rows_, most) : 0; }

  private:
    Rows& rows_;
    std::optional<Row> first_;
};

}  // namespace detail

}}  // namespace specsample

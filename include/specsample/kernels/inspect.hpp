// Checks that a row is a distribution, in one pass, and finds the fault to report if it is not.
#pragma once

#include <cmath>
#include <optional>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/fault.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/entries.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// The largest deviation from 1 that the sum of a row of these scalars may have. A smaller deviation is not corrected.
template <detail::Floating Scalar>
inline constexpr double sum_tolerance = sizeof(Scalar) == 2 ? 1e-2 : 1e-3;

}  // namespace kernels

namespace detail {

/// The tolerance of a view whose numbers have a scalar that its type names.
template <class View>
inline constexpr double stored_tolerance = kernels::sum_tolerance<typename StoredScalar<View>::type>;

/// Return the tolerance of a view of any kind: it depends on the scalar in which the numbers are stored.
template <class View>
EIGEN_ALWAYS_INLINE double tolerance_of(const View& view) {
    if constexpr (is_entries_row<View>)
        return tolerance_of(view.functor().numbers());
    else
        return kernels::sum_tolerance<typename View::Scalar>;
}
/// Return the rounding error of the scalar in which a softmax of a view's numbers was stored: of float at best.
template <class View>
double epsilon_of(const View& view) {
    if constexpr (is_entries_row<View>)
        return epsilon_of(view.functor().numbers());
    else
        return std::max(static_cast<double>(Eigen::NumTraits<typename View::Scalar>::epsilon()), 0x1p-23);
}

/// Return how far the sum of a good row may be from 1: 0 for logits that this library has normalised.
template <class View>
double sum_deviation(const View& view) {
    if constexpr (is_entries_row<View>) {
        const auto& encoding = view.functor().encoding();
        if (!encoding.is_probability() && !encoding.is_given()) return 0;
    }
    return tolerance_of(view);
}

/// Return the fault of the first bad id of a sparse row: outside the vocabulary, or not above the previous id.
template <class Ids>
[[gnu::cold, gnu::noinline]] RowFault blame_ids(const Ids& ids, Index vocab, RowFault fault) {
    for (Index place = 0, before = -1; place < ids.size(vocab); before = ids.id(place++)) {
        const Index id = ids.id(place);
        fault.id = place;
        fault.value = static_cast<double>(id);
        if (id < 0 || id >= vocab) {
            fault.cause = Cause::id_outside;
            fault.bound = static_cast<double>(vocab);
            return fault;
        }
        if (id <= before) {
            fault.cause = Cause::unordered_ids;
            fault.bound = static_cast<double>(before);
            return fault;
        }
    }
    return fault;
}

/// Check that the ids of a row increase and are inside the vocabulary. Lookups in a sparse row rely on this order.
/// @cost   one pass over the ids; nothing for a row that holds every id
template <class Ids>
std::optional<RowFault> inspect_ids(const Ids& ids, Index vocab, Side side, Index number) {
    if (ids.holds_every_id()) return std::nullopt;
    const Index count = ids.size(vocab);
    if (count == 0 || (ids.id(0) >= 0 && ids.id(count - 1) < vocab && ids.are_ordered())) return std::nullopt;
    return blame_ids(ids, vocab, {.side = side, .row = number});
}

/// Check the ids of a view of any kind of row.
template <class View>
std::optional<RowFault> inspect_ids(const View& view, Side side, Index number) {
    if constexpr (is_entries_row<View>) return inspect_ids(view.functor().ids(), view.size(), side, number);
    return std::nullopt;
}

/// The numbers of a row that no distribution has, with the first place of each kind.
struct OddNumbers {
    Index not_finite_at = -1;  ///< a place; -1 if there is none
    double not_finite = 0;     ///< NaN or +inf
    Index negative_at = -1;
    double negative = 0;
    bool like_logits = false;  ///< whether a number is below -1 or above 1 + tolerance
    bool has_finite = false;
};

/// Find the odd numbers at the places [first, end), up to the first NaN or +inf.
template <class Numbers>
[[gnu::cold, gnu::noinline]] OddNumbers find_odd(const Numbers& number, Index first, Index end, double tolerance) {
    OddNumbers found;
    for (Index place = first; place < end; ++place) {
        const double x = number(place);
        if (is_nan(x) || is_infinity(x)) {
            found.not_finite_at = place;
            found.not_finite = x;
            return found;
        }
        found.has_finite |= is_finite(x);
        if (x < 0 && found.negative_at < 0) {
            found.negative_at = place;
            found.negative = x;
        }
        found.like_logits |= x < -1 || x > 1 + tolerance;
    }
    return found;
}

/// Find the odd numbers of a whole row, by place.
template <class View>
OddNumbers odd_numbers(const Blocks<View>& row, double tolerance) {
    const auto& numbers = row.numbers();
    if constexpr (Blocks<View>::is_split) {
        return numbers.share().odd_numbers(tolerance);
    } else {
        return find_odd([&](Index place) { return numbers[place]; }, 0, row.size(), tolerance);
    }
}

/// Return the fault of a row whose sum, smallest entry or normaliser is bad. If its logits are good, the fault is the
/// normaliser that the caller stated.
template <class View>
[[gnu::cold, gnu::noinline]] RowFault diagnose(const Blocks<View>& row, double sum, RowFault fault) {
    const OddNumbers odd = odd_numbers(row, fault.bound);
    fault.value = sum;
    if (odd.not_finite_at >= 0) {
        fault.cause = Cause::not_finite;
        fault.value = odd.not_finite;
        fault.id = row.id(odd.not_finite_at);
        return fault;
    }
    if constexpr (is_entries_row<View>)
        if (row.size() == 0 || !row.encoding().is_probability()) {
            fault.cause = odd.has_finite && row.encoding().is_given() ? Cause::not_normalised : Cause::all_masked;
            return fault;
        }
    if (odd.negative_at >= 0) fault.id = row.id(odd.negative_at);
    fault.cause = odd.like_logits ? Cause::logits : odd.negative_at >= 0 ? Cause::negative : Cause::not_normalised;
    if (fault.cause == Cause::negative) fault.value = odd.negative;
    return fault;
}

/// The sum of a row, and the sum of its negative entries, which must be exactly zero. The second sum reads a block that
/// is in the cache by then.
struct CheckedSum {
    double all = 0;
    double negative = 0;

    template <class Value>
    EIGEN_ALWAYS_INLINE void add(Index count, const Value* block) {
        all += block_sum<Value>(
            count, [](const auto& x) { return x; }, block);
        negative += block_sum<Value>(
            count, [](const auto& x) { return x.min(Value{0}); }, block);
    }

    /// Return whether this can be the sum of probabilities.
    bool is_one(double tolerance) const { return is_finite(all) && negative == 0 && std::abs(all - 1) <= tolerance; }
};

/// Return the sums of a row.
template <class View>
CheckedSum checked_sum(const View& view) {
    const Blocks<View> row(view);
    CheckedSum sum;
    if constexpr (Blocks<View>::is_split) {
        const kernels::BlockSums sums(kernels::RowWeights<View>{view});
        sum.all = sums.total();
        sum.negative = row.share().negative();
    } else {
        typename Blocks<View>::Buffer buffer;
        for_blocks(0, row.size(), [&](Index first, Index count) {
            row.expect(first + count, block_size);  // else the second sum keeps the next block waiting
            sum.add(count, row.read(first, count, buffer));
        });
    }
    return sum;
}

/// Check the view of a row as kernels::inspect checks a row. Many types of rows share one type of view, and this code.
/// @param found   where the sum of a good row is put, if it took a pass
template <class View>
std::optional<RowFault> inspect_view(const View& view, Side side, Index number, double* found = nullptr) {
    RowFault fault{.side = side, .row = number, .bound = tolerance_of(view)};
    if (view.size() == 0) {
        fault.cause = Cause::empty;
        return fault;
    }
    const Blocks<View> blocks(view);
    if constexpr (Blocks<View>::is_split) {
        if (auto bad = blocks.share().fault()) {
            bad->side = side;
            bad->row = number;
            return bad;
        }
    }
    if constexpr (is_entries_row<View>) {
        if (const auto bad = inspect_ids(view, side, number)) return bad;
        const auto& encoding = blocks.encoding();
        if (blocks.size() == 0 || (encoding.is_bad() && !encoding.is_given())) return diagnose(blocks, 0, fault);
        if (!encoding.is_probability() && !encoding.is_given()) return std::nullopt;
    }
    const CheckedSum sum = checked_sum(view);
    if (sum.is_one(fault.bound)) {
        if (found != nullptr) *found = sum.all;
        bool is_refused = false;  // by code that saw more of the row
        if constexpr (is_entries_row<View>) is_refused = blocks.encoding().is_refused();
        if (!is_refused) return std::nullopt;
    }
    return diagnose(blocks, sum.all, fault);
}

/// Find probabilities that were given as logits: none is negative, and they sum to 1. Rows that may well be logits
/// pass: fewer than three numbers, equal numbers, or only one positive number. Greedy rows pass, because their argmax
/// is the same for probabilities, and split rows pass, because no rank has the sum.
/// @cost   O(1) for logits, whose first numbers show what they are; one pass over probabilities
template <class View>
std::optional<RowFault> inspect_kind(const View& view, Side side, Index number) {
    if constexpr (is_entries_row<View> && !Blocks<View>::is_split) {
        const Blocks<View> row(view);
        const Index size = row.size();
        if (!row.encoding().is_logit() || size < 3) return std::nullopt;
        double sum = 0, least = 1;
        Index positive = 0;
        for (Index place = 0; place < size; ++place) {
            const double x = row.numbers()[place];
            if (!(x >= 0 && x <= 1)) return std::nullopt;
            sum += x;
            least = std::min(least, x);
            positive += x > 0;
        }
        // The sum must be as near to 1 as rounding leaves the sum of a softmax in float or 16 bits, so that the logits
        // of a short row do not pass as probabilities by chance.
        const double rounding = static_cast<double>(size) * epsilon_of(view);
        const bool is_one = std::abs(sum - 1) <= std::min(tolerance_of(view), rounding);
        const bool is_uniform = least * static_cast<double>(size) > 1 - rounding;
        if (!is_one || is_uniform || positive < 2) return std::nullopt;
        return RowFault{side, Cause::probabilities, number, static_cast<double>(size), sum};
    }
    return std::nullopt;
}

}  // namespace detail

namespace kernels {

/// Check that `row` is a distribution: finite, non-negative, of sum 1 within the tolerance of its scalar. Logits define
/// a distribution if none is NaN or +inf and not all are -inf; the ids of a sparse row must be strictly increasing.
/// @returns  the fault, with the given side and row number, or nothing
/// @cost     one pass; a second one over a bad row
template <RowLike R>
std::optional<RowFault> inspect(const R& row, Side side, Index number) {
    return detail::inspect_view<detail::row_view_t<R>>(detail::as_row(row), side, number);
}

}  // namespace kernels

}}  // namespace specsample

// Checks that a row is a distribution, in one pass, and finds the fault to report if it is not.
#pragma once

#include <cmath>
#include <optional>
#include <type_traits>

#include <specsample/core/fault.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>

namespace specsample::inline SPECSAMPLE_ABI {

namespace kernels {

/// The largest deviation from 1 that the sum of a row of these scalars may have. A smaller one is not corrected.
template <detail::Floating Scalar>
inline constexpr double sum_tolerance = sizeof(Scalar) == 2 ? 1e-2 : 1e-3;
}  // namespace kernels

namespace detail {

/// The tolerance of a view of any kind: that of the scalar in which its numbers are stored.
template <class View>
inline constexpr double tolerance_of = kernels::sum_tolerance<typename StoredScalar<View>::type>;

/// The fault of the first id of a sparse row that is not above the one before it, or not in the vocabulary.
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

/// Check that the ids of a row increase and are inside the vocabulary. Lookups in a sparse row rely on that.
/// @cost   one pass over the ids; nothing for a row that holds every id
template <class Ids>
std::optional<RowFault> inspect_ids(const Ids& ids, Index vocab, Side side, Index number) {
    if (ids.holds_every_id()) return std::nullopt;
    const Index count = ids.size(vocab);
    bool ordered = count == 0 || (ids.id(0) >= 0 && ids.id(count - 1) < vocab);
    for (Index place = 1; place < count; ++place) ordered &= ids.id(place - 1) < ids.id(place);
    if (ordered) return std::nullopt;
    return blame_ids(ids, vocab, {.side = side, .row = number});
}

/// Check the ids of a view of any kind of row.
template <class View>
std::optional<RowFault> inspect_ids(const View& view, Side side, Index number) {
    if constexpr (is_entries_row<View>) return inspect_ids(view.functor().ids(), view.size(), side, number);
    return std::nullopt;
}

/// The fault of logits whose normaliser is bad: a stated normaliser itself, if the logits are good.
template <class E>
[[gnu::cold, gnu::noinline]] RowFault diagnose_logits(const E& entries, double sum, RowFault fault) {
    const auto& numbers = entries.numbers();
    fault.cause = Cause::all_masked;
    for (Index place = 0; place < entries.size(); ++place) {
        const double x = static_cast<double>(numbers.coeff(place));
        if (is_finite(x) && entries.encoding().is_given()) {
            fault.cause = Cause::not_normalised;
            fault.value = sum;
        }
        if (!is_nan(x) && !is_infinity(x)) continue;
        fault.cause = Cause::not_finite;
        fault.value = x;
        fault.id = entries.ids().id(place);
        break;
    }
    return fault;
}

/// The fault of a row whose sum or smallest entry is bad.
template <class View>
[[gnu::cold, gnu::noinline]] RowFault diagnose(const Blocks<View>& row, double sum, RowFault fault) {
    bool has_negative = false, like_logits = false;
    for (Index place = 0; place < row.size(); ++place) {
        const double x = row[place];
        const Index i = row.id(place);
        if (is_nan(x) || is_infinity(x)) {
            fault.cause = Cause::not_finite;
            fault.value = x;
            fault.id = i;
            return fault;
        }
        if (x < 0 && !has_negative) {
            has_negative = true;
            fault.value = x;
            fault.id = i;
        }
        like_logits |= x < -1 || x > 1 + fault.bound;
    }
    fault.cause = like_logits ? Cause::logits : has_negative ? Cause::negative : Cause::not_normalised;
    if (like_logits || !has_negative) fault.value = sum;
    return fault;
}

/// The sum of a row, and that of its negative part, over a block that is in the cache by then: it must be exactly zero.
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

    /// Whether this can be the sum of probabilities.
    bool is_one(double tolerance) const { return is_finite(all) && negative == 0 && std::abs(all - 1) <= tolerance; }
};

/// kernels::inspect for the view of a row: rows of many types have one type of view.
template <class View>
std::optional<RowFault> inspect_view(const View& view, Side side, Index number) {
    RowFault fault{.side = side, .row = number, .bound = tolerance_of<View>};
    if (view.size() == 0) {
        fault.cause = Cause::empty;
        return fault;
    }
    if constexpr (is_entries_row<View>) {
        const auto& entries = view.functor();
        if (const auto bad = inspect_ids(view, side, number)) return bad;
        const auto& encoding = entries.encoding();
        if (entries.size() == 0 || (encoding.is_bad() && !encoding.is_given()))
            return diagnose_logits(entries, 0, fault);
        if (!encoding.is_probability() && !encoding.is_given()) return std::nullopt;
    }
    const Blocks<View> blocks(view);
    typename decltype(blocks)::Buffer buffer;
    CheckedSum sum;
    for_blocks(0, blocks.size(), [&](Index first, Index count) { sum.add(count, blocks.read(first, count, buffer)); });
    if (sum.is_one(fault.bound)) {
        bool is_refused = false;  // by code that saw more of the row
        if constexpr (is_entries_row<View>) is_refused = view.functor().encoding().is_refused();
        if (!is_refused) return std::nullopt;
    }
    if constexpr (is_entries_row<View>) {
        if (view.functor().encoding().is_given()) return diagnose_logits(view.functor(), sum.all, fault);
    }
    return diagnose(blocks, sum.all, fault);
}
}  // namespace detail

namespace kernels {

/// Check that `row` is a distribution: finite, non-negative, of sum 1 within the tolerance of its scalar. Logits are
/// one if none is NaN or +inf and not all are -inf; the ids of a sparse row must be strictly increasing.
/// @returns  the fault, with the given side and row number, or nothing
/// @cost     one pass; a second one over a bad row
template <Row R>
std::optional<RowFault> inspect(const R& row, Side side, Index number) {
    return detail::inspect_view<detail::row_view_t<R>>(detail::as_row(row), side, number);
}
}  // namespace kernels

}  // namespace specsample

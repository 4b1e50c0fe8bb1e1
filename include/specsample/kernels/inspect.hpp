// Is this row a distribution? One pass, and a sentence's worth of detail where it is not.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <specsample/core/fault.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample {

/// How far from 1 a row of these scalars may sum. Within it nothing is corrected.
template <Floating Scalar>
inline constexpr double sum_tolerance = sizeof(Scalar) == 2 ? 1e-2 : 1e-3;

namespace detail {

/// What is wrong with a row whose sum or smallest entry says that something is.
template <class View>
[[gnu::cold, gnu::noinline]] RowFault diagnose(const View& view, double sum, RowFault fault) {
    bool has_negative = false, like_logits = false;
    for (Index i = 0; i < view.size(); ++i) {
        const double x = static_cast<double>(view.coeff(i));
        if (is_nan(x) || x == std::numeric_limits<double>::infinity()) {
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

}  // namespace detail

/// Check that `row` is a distribution: finite, non-negative, of sum 1 within the tolerance of its scalar.
/// @returns  the fault, for party and row number as given, or nothing
/// @cost     one pass; a second one over a bad row
template <Row R>
std::optional<RowFault> inspect(const R& row, Party party, Index number) {
    const auto view = as_row(row);
    using Scalar = typename decltype(view)::Scalar;
    RowFault fault{.party = party, .row = number, .bound = sum_tolerance<Scalar>};
    if (view.size() == 0) {
        fault.cause = Cause::empty;
        return fault;
    }
    const detail::Blocks blocks(view);
    using Value = typename decltype(blocks)::Value;
    typename decltype(blocks)::Buffer buffer;
    // The negative part is summed by itself, over a block that is in the cache by then: zero to the bit, or not.
    const auto whole = [](const auto& x) { return x; };
    const auto negative = [](const auto& x) { return x.min(Value{0}); };
    double sum = 0, negative_sum = 0;
    detail::for_blocks(0, view.size(), [&](Index first, Index count) {
        const Value* entries = blocks.read(first, count, buffer);
        sum += detail::block_sum<Value>(count, whole, entries);
        negative_sum += detail::block_sum<Value>(count, negative, entries);
    });
    if (is_finite(sum) && negative_sum == 0 && std::abs(sum - 1) <= fault.bound) return std::nullopt;
    return detail::diagnose(view, sum, fault);
}

}  // namespace specsample

// The entropy of a row.
#pragma once

#include <limits>

#include <specsample/kernels/entries.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

template <class View>
[[gnu::flatten]] double entropy_of(const Blocks<View>& row) {
    using Value = typename Blocks<View>::Value;
    typename Blocks<View>::Buffer buffer;
    // Inside the logarithm, p is at least the smallest normal number: so p = 0 gives 0 ln 0 = 0.
    const auto term = [](const auto& p) { return p * p.max(std::numeric_limits<Value>::min()).log(); };
    const auto negative = [](const auto& p) { return p.min(Value(0)); };
    double total = 0, below = 0;
    for_blocks(0, row.size(), [&](Index first, Index count) {
        row.expect(first + count, block_size);
        const Value* probs = row.read(first, count, buffer);
        total += block_sum<Value>(count, term, probs);
        below += block_sum<Value>(count, negative, probs);
    });
    return below < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0 - total;
}

}  // namespace detail

namespace kernels {

/// Return the entropy of a row, in nats.
///
///     H(p) = - sum_x p(x) ln p(x);      0 ln 0 = 0
///
/// @param row   probabilities that sum to 1
/// @returns     in [0, ln V], up to rounding
/// @cost        one pass over the stored entries; one more for logits whose normaliser is not known; no allocation
/// @edge        one-hot: 0; an empty row: 0; a NaN or a negative entry in it: NaN
/// @accuracy    blocks are summed in the row's own precision, their sums in double. The last digits may differ between
///              instruction sets, because the logarithm is Eigen's
template <RowLike R>
double entropy(const R& row) {
    return detail::entropy_of(detail::Blocks(detail::as_row(row)));
}

}  // namespace kernels

}}  // namespace specsample

// The overlap of two rows, sum min(p, q).
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/kernels/entries.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Sum the overlap over the places of p.
template <class P, class Q>
[[gnu::flatten]] double overlap_at(const Blocks<P>& p, const Blocks<Q>& q) {
    using Value = std::common_type_t<typename Blocks<P>::Value, typename Blocks<Q>::Value>;
    typename Blocks<P>::Buffer p_buffer;
    typename Blocks<Q>::Buffer q_buffer;
    const auto least = [](const auto& x, const auto& y) {
        return x.template cast<Value>().min(y.template cast<Value>());
    };
    double total = 0;
    for_blocks(0, p.size(), [&](Index first, Index count) {
        total += visit_both(p, q, first, count, p_buffer, q_buffer,
                            [&](const auto& x, const auto& y) { return block_sum<Value>(count, least, x, y); });
    });
    return total;
}

}  // namespace detail

namespace kernels {

/// Return the overlap of two rows: the probability that a token drawn from one is accepted by the other.
///
///     sum_x min(p(x), q(x)) = 1 - TV(p, q)
///
/// @param q, p   rows of one size, non-negative
/// @returns      in [0, 1] for rows that sum to 1
/// @throws       std::invalid_argument if the sizes differ
/// @cost         one pass over both rows, or over a sparse row and the other row's entries at its ids; no allocation
/// @accuracy     blocks are summed in the rows' own precision, their sums in double
template <RowLike Q, RowLike P>
double overlap(const Q& q, const P& p) {
    if (detail::row_size(q) != detail::row_size(p))
        detail::invalid("overlap", "the second row's size", detail::row_size(p),
                        "the first row's, " + detail::to_text(detail::row_size(q)));
    const detail::Blocks target(detail::as_row(p));
    const detail::Blocks draft(detail::as_row(q));
    return target.holds_every_id() ? detail::overlap_at(draft, target) : detail::overlap_at(target, draft);
}

}  // namespace kernels

}}  // namespace specsample

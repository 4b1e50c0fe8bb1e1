// How much two rows agree.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample {

/// The overlap of two rows: the probability that a token drawn from one is accepted by the other.
///
///     sum_x min(p(x), q(x)) = 1 - TV(p, q)
///
/// @param p, q   rows of one size, non-negative
/// @returns      in [0, 1] for rows that sum to 1; in double, blocks summed in the rows' own precision
/// @throws       std::invalid_argument if the sizes differ
/// @cost         one pass, no allocation
template <Row P, Row Q>
double overlap(const P& p, const Q& q) {
    const detail::Blocks target(as_row(p));
    const detail::Blocks draft(as_row(q));
    if (target.size() != draft.size())
        detail::invalid("overlap", "the second row's size", draft.size(),
                        "the first row's, " + detail::to_text(target.size()));
    using Value = std::common_type_t<typename decltype(target)::Value, typename decltype(draft)::Value>;
    typename decltype(target)::Buffer target_buffer;
    typename decltype(draft)::Buffer draft_buffer;
    const auto least = [](const auto& x, const auto& y) {
        return x.template cast<Value>().min(y.template cast<Value>());
    };
    double total = 0;
    detail::for_blocks(0, target.size(), [&](Index first, Index count) {
        total += detail::block_sum<Value>(count, least, target.read(first, count, target_buffer),
                                          draft.read(first, count, draft_buffer));
    });
    return total;
}

}  // namespace specsample

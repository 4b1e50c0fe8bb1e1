// The largest entry of a row, and the one-hot row of an id.
#pragma once

#include <algorithm>
#include <limits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>
#include <specsample/kernels/nan.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Return the id of the largest number of a row; see kernels::argmax. A block of each half is read in turn. The halves
/// are written out, because one loop over block_at_step takes g++ 12 a quarter longer from memory.
template <class View>
Index largest_id(const Blocks<View>& blocks) {
    if constexpr (Blocks<View>::is_slice) {
        return blocks.largest_id();
    } else {
        using Value = typename Blocks<View>::Value;
        struct Largest {
            Value number = -std::numeric_limits<Value>::infinity();
            Index place = -1;
        };
        typename Blocks<View>::Buffer buffer;
        bool ordered = true;
        const auto look = [&](Index first, Index count, Largest& best) {
            blocks.expect(first + block_size, block_size);  // the next block of the same half
            const Value* numbers = blocks.read(first, count, buffer);
            const Value most = block_max(count, numbers);
            ordered = ordered && !has_nan(numbers, count);
            if (!ordered || !(most > best.number)) return;
            best = {most, first + (std::find(numbers, numbers + count, most) - numbers)};
        };
        Largest low, high;
        const Index half = blocks.size() / (2 * block_size) * block_size;
        for (Index first = 0; first < half; first += block_size) {
            look(first, block_size, low);
            look(half + first, block_size, high);
        }
        for (Index first = 2 * half; first < blocks.size(); first += block_size)
            look(first, std::min(block_size, blocks.size() - first), high);
        const Largest best = high.number > low.number ? high : low;
        return ordered && is_finite(static_cast<double>(best.number)) ? blocks.id(best.place) : -1;
    }
}

}  // namespace detail

namespace kernels {

/// Return the id of the largest entry, the lowest id on ties. Drafts, targets and plain decoding share this rule:
/// greedy texts agree only if all of them break ties alike. Logits are compared directly, without a softmax.
/// @returns  -1 if there is no largest entry: the row is empty, holds a NaN or +inf, or has nothing above -inf
/// @cost     one pass
template <RowLike R>
Index argmax(const R& row) {
    if constexpr (detail::StatedRow<R>) {
        return row.argmax();
    } else {
        return detail::largest_id(detail::Blocks(detail::as_row(row)));
    }
}

/// Make the distribution with all mass on `id`; a row of zeros for id -1.
template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, 1> one_hot(Index size, Index id) {
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> row = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(size);
    if (id >= 0) row[id] = Scalar{1};
    return row;
}

}  // namespace kernels

}}  // namespace specsample

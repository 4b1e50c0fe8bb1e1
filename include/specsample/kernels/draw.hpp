// Inverse CDF in three levels: weights x random draw -> id, in one pass over memory.
//
// The pass leaves one sum per block; a scan of those picks the block, a scan of its pieces the piece, a scan of
// its entries the place. No normalisation, no temporary, no second read of the row. Selection is in double.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>

#include <specsample/core/number.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

namespace kernels {

/// What a draw gives: the id of a weight, or -1 where the weights' sum is not a positive number, or not what it was
/// said to be.
struct Drawn {
    Index index = -1;
    double sum = 0;  ///< of all weights
};
}  // namespace kernels

namespace detail {

/// Most blocks of a pass: their sums live on the stack, 4 KiB, up to 262144 tokens at the smallest block size.
inline constexpr Index max_blocks = 512;

/// Entries of a piece, the level between a block and a token.
inline constexpr Index piece_size = 64;

/// The entry of [first, end) at which the running sum passes `rest`, or -1 if none does.
template <kernels::Weights W>
Index pick_entry(const W& weights, Index first, Index end, double rest) {
    double sum = 0;
    Index i = first;
    for (; i + 4 <= end; i += 4) {  // four at a time, up to the group that holds it: their sum is not a chain
        const double passed = sum + ((weights[i] + weights[i + 1]) + (weights[i + 2] + weights[i + 3]));
        if (rest < passed) break;
        sum = passed;
    }
    for (; i < end; ++i) {
        sum += weights[i];
        if (rest < sum) return i;
    }
    return -1;
}

/// The last entry with weight at or before `from`, else the first one after it: where rounding overshoots, the
/// draw lands on a token that can be drawn.
template <kernels::Weights W>
[[gnu::cold]] Index nearest_positive(const W& weights, Index from) {
    for (Index i = from; i >= 0; --i)
        if (weights[i] > 0) return i;
    for (Index i = from + 1; i < weights.size(); ++i)
        if (weights[i] > 0) return i;
    return -1;
}

/// The place at `rest` within [first, end).
template <kernels::Weights W>
Index pick_in_block(const W& weights, Index first, Index end, double rest) {
    for (Index piece = first; piece < end; piece += piece_size) {
        const Index piece_end = std::min(piece + piece_size, end);
        const double sum = weights.sum(piece, piece_end - piece);
        if (rest < sum || piece_end == end) {
            const Index place = pick_entry(weights, piece, piece_end, rest);
            return place >= 0 ? place : nearest_positive(weights, piece_end - 1);
        }
        rest -= sum;
    }
    return nearest_positive(weights, end - 1);
}

}  // namespace detail

namespace kernels {

/// Weights whose pass was made before.
template <class W>
concept SummedWeights = Weights<W> && requires(const W& weights, double u) {
    { weights.total() } -> std::convertible_to<double>;
    { weights.pick(u) } -> std::convertible_to<Index>;
};

/// One pass over weights: a sum per block and the sum of all, from which a place can be picked.
template <Weights W>
class BlockSums {
  public:
    explicit BlockSums(const W& weights) : weights_(weights) {
        for (Index first = 0; first < weights.size(); first += per_block_)
            up_to_[count_++] = total_ += weights.sum(first, std::min(per_block_, weights.size() - first));
    }

    double total() const { return total_; }

    // The weights that were summed.
    Index size() const { return weights_.size(); }
    Index id(Index place) const { return id_of(weights_, place); }
    double operator[](Index place) const { return weights_[place]; }
    double sum(Index first, Index count) const { return weights_.sum(first, count); }

    /// The place at u in [0, 1) of the cumulative weights.
    /// @pre the total is a positive number
    Index pick(double u) const {
        const double target = detail::rounded(u * total_);
        std::size_t block = 0;
        while (block + 1 < count_ && target >= up_to_[block]) ++block;
        const double rest = block == 0 ? target : target - up_to_[block - 1];
        const Index first = static_cast<Index>(block) * per_block_;
        return detail::pick_in_block(weights_, first, std::min(first + per_block_, weights_.size()), rest);
    }

  private:
    /// The smallest multiple of the block size that leaves at most max_blocks blocks.
    static Index block_length(Index size) {
        constexpr Index most = detail::max_blocks * detail::block_size;
        return detail::block_size * std::max<Index>(1, (size + most - 1) / most);
    }

    W weights_;
    Index per_block_ = block_length(weights_.size());
    std::size_t count_ = 0;
    double total_ = 0;
    std::array<double, detail::max_blocks> up_to_;
};

/// Draw an id with probability weights[i] / sum.
///
/// @param uniform   called once for a random draw in [0, 1), and not at all where nothing can be drawn, or one id only
/// @returns         the id and the weights' sum; -1 if the sum is zero, NaN or infinite
/// @cost            one pass over the weights, unless they are summed already, then at most 512 block sums, a block and
/// 64 entries; no allocation
/// @edge            an entry of weight 0 is never drawn; a random draw that rounding puts past the end draws the last
///                  entry with weight
/// @accuracy        total variation from rounding below 1e-6 for float rows of up to 262144 entries
template <Weights W, std::invocable Uniform>
Drawn draw_index(const W& weights, Uniform&& uniform) {
    if constexpr (SummedWeights<W>) {
        if (!detail::is_positive(weights.total())) return {-1, weights.total()};
        if (weights.size() == 1) return {id_of(weights, 0), weights.total()};  // a forced token
        const Index place = weights.pick(uniform());
        return {place < 0 ? -1 : id_of(weights, place), weights.total()};
    } else {
        return draw_index(BlockSums<W>(weights), uniform);
    }
}
}  // namespace kernels

}  // namespace specsample

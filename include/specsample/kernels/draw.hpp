// Inverse CDF in three levels: weights and a random number to an id, in one pass over memory.
//
// The pass leaves one sum per block. A scan of these sums picks the block, a scan of its pieces the piece, a scan of
// its entries the place. There is no normalisation, no temporary and no second read of the row. Selection is in double.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// The result of a draw: the id of a weight, or -1 if the sum of the weights is not a positive number, or not the sum
/// that the caller stated.
struct Drawn {
    Index index = -1;
    double sum = 0;  ///< the sum of all weights
};

}  // namespace kernels

namespace detail {

/// Return whether a pass over some weights reads a block of each half in turn instead of one block after the other, as
/// weights of logits may say: those that are computed where they are read, by passes that prefetch. Without prefetches,
/// changing from half to half takes Zen 5 twice as long as reading in order.
template <class W>
EIGEN_ALWAYS_INLINE bool are_read_in_halves(const W& weights) {
    if constexpr (requires { weights.are_in_halves(); })
        return weights.are_in_halves();
    else
        return false;
}

/// Most blocks in a pass. Their sums take 4 KiB of stack, and cover 262144 tokens at the smallest block size.
inline constexpr Index max_blocks = 512;

/// Entries of a piece, the level between a block and a token.
inline constexpr Index piece_size = 64;

/// Return whether u q < s. A small q is scaled up first, because its product would lose bits below the normal numbers.
inline bool is_accepted(double u, double s, double q) {
    const double unit = q < 0x1p-960 ? 0x1p100 : 1;
    return u * (q * unit) < s * unit;
}

/// Return the running sum that a random number in [0, 1) stands for. Below the normal numbers, sums are whole multiples
/// of the smallest double, and the product is rounded down to one: rounding to the nearest would favour the last ids.
inline double target_of(double u, double total) {
    constexpr double least = std::numeric_limits<double>::denorm_min();
    if (total < std::numeric_limits<double>::min()) return std::floor(u * (total / least)) * least;
    return rounded(u * total);
}

/// Return the entry of [first, end) at which the running sum passes `rest`, or -1 if the sum stays below.
template <kernels::Weights W>
Index pick_entry(const W& weights, Index first, Index end, double rest) {
    double sum = 0;
    Index i = first;
    for (; i + 4 <= end; i += 4) {  // find the group of four first: its sum is no chain of additions
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

/// Return the last entry of positive weight at or before `from`, else the first one after it. So a draw gives a token
/// of positive weight even where rounding overshoots.
template <kernels::Weights W>
[[gnu::cold]] Index nearest_positive(const W& weights, Index from) {
    for (Index i = from; i >= 0; --i)
        if (weights[i] > 0) return i;
    for (Index i = from + 1; i < weights.size(); ++i)
        if (weights[i] > 0) return i;
    return -1;
}

/// Return the place at `rest` within [first, end). If rounding puts it past the end of a piece, return ~place of the
/// last entry of that piece.
template <kernels::Weights W>
Index pick_in_block(const W& weights, Index first, Index end, double rest) {
    for (Index piece = first; piece < end; piece += piece_size) {
        const Index piece_end = std::min(piece + piece_size, end);
        const double sum = weights.sum(piece, piece_end - piece);
        if (rest < sum || piece_end == end) {
            const Index place = pick_entry(weights, piece, piece_end, rest);
            return place >= 0 ? place : ~(piece_end - 1);
        }
        rest -= sum;
    }
    return ~(end - 1);
}

/// Return the length of the blocks whose sums a draw keeps: the smallest multiple of the block size that leaves at most
/// max_blocks blocks.
inline Index block_length(Index size) {
    constexpr Index most = max_blocks * block_size;
    return block_size * std::max<Index>(1, (size + most - 1) / most);
}

}  // namespace detail

namespace kernels {

/// Weights that have been summed already.
template <class W>
concept SummedWeights = Weights<W> && requires(const W& weights, double u) {
    { weights.total() } -> std::convertible_to<double>;
    { weights.pick(u) } -> std::convertible_to<Index>;
};

/// The running sums of some weights at the ends of their blocks, from which a place can be picked.
struct RunningSums {
    std::size_t count = 0;  ///< how many blocks have been summed
    double total = 0;
    std::array<double, detail::max_blocks> up_to;

    /// Sum the weights.
    /// @param each   room for the sum of every block, or null
    /// @cost         one pass
    template <Weights W>
    void sum(const W& weights, double* each = nullptr) {
        const Index per_block = detail::block_length(weights.size());
        count = static_cast<std::size_t>((weights.size() + per_block - 1) / per_block), total = 0;
        if constexpr (detail::SharedWeights<W>) {
            weights.share().sum_blocks(weights, std::span(up_to).first(count));
        } else {
            const auto blocks = static_cast<Index>(count);
            const bool in_halves = detail::are_read_in_halves(weights);
            for (Index step = 0; step < blocks; ++step) {
                const Index block = in_halves ? detail::block_at_step(step, blocks) : step;
                const Index first = block * per_block;
                up_to[static_cast<std::size_t>(block)] =
                    weights.sum(first, std::min(per_block, weights.size() - first));
            }
        }
        for (std::size_t block = 0; block < count; ++block) {
            if (each != nullptr) each[block] = up_to[block];
            up_to[block] = total += up_to[block];
        }
    }

    /// Become the sums of other weights times a factor.
    void become(const RunningSums& other, double factor) {
        count = other.count, total = other.total * factor;
        for (std::size_t block = 0; block < count; ++block) up_to[block] = other.up_to[block] * factor;
    }

    /// Return the place at which the cumulative weights pass u * total, u in [0, 1).
    /// @param weights   those that were summed
    /// @pre the total is a positive number
    template <Weights W>
    Index pick(const W& weights, double u) const {
        const double target = detail::target_of(u, total);
        std::size_t block = 0;
        while (block + 1 < count && target >= up_to[block]) ++block;
        const double rest = block == 0 ? target : target - up_to[block - 1];
        const Index per_block = detail::block_length(weights.size());
        const Index first = static_cast<Index>(block) * per_block, end = std::min(first + per_block, weights.size());
        if constexpr (detail::SharedWeights<W>) {
            return weights.share().pick(weights, first, end, rest);
        } else {
            const Index place = detail::pick_in_block(weights, first, end, rest);
            return place >= 0 ? place : detail::nearest_positive(weights, ~place);
        }
    }
};

/// Return the sum of all weights.
/// @cost   one pass
template <Weights W>
double total_of(const W& weights) {
    RunningSums sums;
    sums.sum(weights);
    return sums.total;
}

/// Weights with their running sums.
template <Weights W>
class BlockSums {
  public:
    /// @param each   room for the sum of every block, or null
    /// @cost         one pass
    explicit BlockSums(const W& weights, double* each = nullptr) : weights_(weights) { sums_.sum(weights_, each); }
    /// Take the sums of a pass that was made before.
    BlockSums(const W& weights, const RunningSums& sums) : weights_(weights), sums_(sums) {}

    /// Sum the weights in another form, which has the same sums.
    template <Weights Form>
    BlockSums(const W& weights, const Form& form) : weights_(weights) {
        sums_.sum(form);
    }

    double total() const { return sums_.total; }
    const RunningSums& sums() const { return sums_; }
    Index pick(double u) const { return sums_.pick(weights_, u); }

    // The weights that were summed.
    Index size() const { return weights_.size(); }
    Index id(Index place) const { return id_of(weights_, place); }
    double operator[](Index place) const { return weights_[place]; }
    double sum(Index first, Index count) const { return weights_.sum(first, count); }
    auto share() const
        requires detail::SharedWeights<W>
    {
        return weights_.share();
    }

  private:
    W weights_;
    RunningSums sums_;
};

/// Return weights with their sums, so that many draws take one pass: the weights themselves if they have sums.
template <Weights W>
auto summed(const W& weights) {
    if constexpr (SummedWeights<W>)
        return weights;
    else
        return BlockSums<W>(weights);
}

/// The sum of the entries that are left of a row while ids are removed from it one by one.
/// @cost   one pass, then a block and at most 512 additions per id
template <class View>
class RestSums {
  public:
    explicit RestSums(const View& row) : row_(row) { RunningSums().sum(RowWeights<View>(row), sums_.data()); }

    /// Take the sums of the row's blocks times a factor, as another pass found them.
    RestSums(const View& row, std::span<const double, detail::max_blocks> sums, double factor) : row_(row) {
        for (std::size_t i = 0; i < count_; ++i) sums_[i] = sums[i] * factor;
    }

    const View& row() const { return row_; }

    /// Remove the last of `removed` and return the sum that is left. Earlier calls have removed the others.
    double without(ListRef<Token> removed) {
        const Index block = RowWeights<View>(row_).place_of(removed.back()) / per_block_, first = block * per_block_;
        const auto left = WithoutWeights<View>(row_, removed);
        const auto sum = [&] { return left.sum(first, std::min(per_block_, size_ - first)); };
        if constexpr (detail::SharedWeights<WithoutWeights<View>>) {
            sums_[static_cast<std::size_t>(block)] = left.share().ask_holder(first, sum);
        } else {
            sums_[static_cast<std::size_t>(block)] = sum();
        }
        double total = 0;
        for (std::size_t i = 0; i < count_; ++i) total += sums_[i];
        return total;
    }

  private:
    View row_;
    Index size_ = RowWeights<View>(row_).size();
    Index per_block_ = detail::block_length(size_);
    std::size_t count_ = static_cast<std::size_t>((size_ + per_block_ - 1) / per_block_);
    std::array<double, detail::max_blocks> sums_;
};

/// Draw an id with probability weights[i] / sum.
///
/// @param uniform   gives a random number in [0, 1)
/// @returns         the id and the weights' sum; -1 if the sum is zero, NaN or infinite
/// @draws           one call of `uniform`; none if nothing can be drawn, or there is one entry only
/// @cost            one pass over the weights, unless it was made before, then at most 512 block sums, a block and 64
///                  entries; no allocation
/// @edge            an entry of weight 0 is never drawn; a random number that rounding puts past the end draws the last
///                  entry of positive weight
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

}}  // namespace specsample

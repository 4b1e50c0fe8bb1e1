// The exponential race: every id draws an arrival time, and the first to arrive wins.
//
//     E_i = -ln U_i,   winner = argmin_i E_i / w_i        P(i wins) = w_i / sum w
//
// The noise belongs to the ids, not to the weights: two rows that race with the same noise tend to agree, and a row
// that races alone gets the same winner. The race needs no sum, so its winner is the same on any machine and in any
// partition. It is the Gumbel trick: the maximum of log-probabilities plus Gumbel noise. Several winners come in the
// order of a draw without replacement (Gumbel top-k).
//
// The noise is drawn in blocks. For the 64 ids of a block,
//
//     M ~ Exp(1) / 64,   J uniform on the ids            one random number per block
//     E'_i ~ Exp(1)                                      one per id, where it is needed
//     E_i = M for i = J,   E_i = M + E'_i otherwise
//
// These E_i are independent and Exp(1): the smallest of 64 such times is Exp(1) / 64, each id has it with the same
// probability, and the extra time of every other id is Exp(1) again, because the exponential distribution has no
// memory. A block whose M / max w is too late holds no winner, and nothing more is drawn for it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <specsample/core/bits.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/arrivals.hpp>
#include <specsample/kernels/race_row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// A source of noise: noise(lanes, out) writes a uniform number in (0, 1) per lane, always the same number for the same
/// lane, with all of its first 52 bits random. An id is a lane; the block of 64 ids that begins at id is lane 2^31 + id
/// / 64.
template <class N>
concept LaneNoise = std::invocable<N&, std::span<const std::uint32_t>, double*>;

}  // namespace kernels

namespace detail {

/// The noise that the ids of a block share: the smallest of their times, and the id that has it.
///
/// The last six of the 52 bits of a uniform number choose the id, the others make the time: 46 bits resolve the
/// smallest of 64 times as finely as 52 bits resolve the time of one id.
struct BlockNoise {
    explicit BlockNoise(double u) {
        const double cells = u * 0x1p46, cell = std::floor(cells);
        least = -std::log((cell + .5) * 0x1p-46) / race_block;
        first = static_cast<Index>((cells - cell) * race_block);
    }

    /// Return a lower bound of the smallest time of a block with the uniform number `u`, without a logarithm: the time
    /// is -ln v / 64 >= (1 - v) / 64, with v within 2^-47 of `u` and at most 1 - 2^-47.
    static double bound(double u) {
        const double time = 1 - 0x1p-46 - u;
        return (time > 0x1p-47 ? time : 0x1p-47) / race_block;
    }

    double least;
    Index first;  ///< counted from the first id of the block
};

/// One race of one row.
///
/// Weights arrive at E / w, and logits at log2(E) - z scale. No pivot is in these times, so that they can be compared
/// wherever they were found. Whether a block or an id may still win is decided by bounds relative to the largest
/// weight, with some slack, so that rounding leaves out no winner.
template <class W, kernels::LaneNoise N>
class Race {
    using Row = RaceRow<W>;
    using Value = typename Row::Value;
    static constexpr std::size_t at_once = 2;  ///< blocks opened together: drawing much noise at once is faster

  public:
    Race(const W& weights, N& noise, Podium& podium) : row_(weights), noise_(noise), podium_(podium) {}

    /// Let all ids race.
    /// @returns   false if a number is neither a weight nor a logit
    bool run() {
        for (Index place = 0; place < row_.size();) {
            for (blocks_.count = 0; place < row_.size() && blocks_.count + row_.least_room <= blocks_.most;) {
                const Index before = blocks_.count;
                place = row_.list(place, blocks_);
                if (place < 0) return false;
                draw_noise(before);
            }
            if (blocks_.count == 0) continue;
            pivot_ = block_max(blocks_.count, blocks_.largest.data());
            if (is_infinity(static_cast<double>(pivot_))) return false;
            run_blocks();
        }
        return true;
    }

  private:
    /// A block whose first id has arrived.
    struct Open {
        Index place, count;  ///< of the block's ids in the row
        Index first;         ///< the id with the smallest time
        double least;        ///< the smallest time
    };

    /// Ids that may win and still have no time.
    struct Waiting {
        static constexpr std::size_t most = at_once * std::size_t{race_block};
        std::size_t count = 0;
        std::array<std::uint32_t, most> ids;
        std::array<Value, most> numbers, weights;
        std::array<std::uint8_t, most> blocks;  ///< the number of each id's block among the opened blocks
        std::array<double, most> uniforms;
    };

    std::uint32_t lane_of(Index block) const { return block_lane(row_.block_of(blocks_.first[block])); }

    /// Draw the noise of the blocks from `first` on.
    void draw_noise(Index first) {
        std::array<std::uint32_t, 64> lanes;
        while (first < blocks_.count) {
            std::size_t count = 0;
            for (; count < lanes.size() && first < blocks_.count; ++count, ++first) lanes[count] = lane_of(first);
            noise_(std::span<const std::uint32_t>(lanes).first(count), uniforms_.data() + (first - Index(count)));
        }
    }

    /// Open blocks in the order of their bounds, up to the first that comes too late.
    void run_blocks() {
        unit_ = row_.are_logits() ? 1 : static_cast<double>(pivot_);
        limit_ = limit();
        order_blocks();
        std::array<Open, at_once> opened;
        for (std::size_t count = at_once; count == at_once;) {
            for (count = 0; count < at_once && order_.find() && order_.bound() < limit_; ++count)
                opened[count] = open(order_.take());
            let_arrive(std::span(opened).first(count));
        }
    }

    /// Find the bounds of all blocks, and order the blocks by them. Bounds are floats, and therefore relative to the
    /// largest weight.
    void order_blocks() {
        constexpr Index group = BlockOrder::group;
        constexpr Value most = BlockOrder::largest;
        const Index end = (blocks_.count + group - 1) / group * group;
        Value* const largest = blocks_.largest.data();
        row_.relative(largest, blocks_.count, pivot_, largest);
        std::fill(largest + blocks_.count, largest + end, Value{1});
        std::fill(uniforms_.data() + blocks_.count, uniforms_.data() + end, .5);
        order_.clear();
        for (Index first = 0; first < end; first += group) {
            const auto unit = static_cast<Value>(unit_);
            BlockOrder::Bounds bounds;
            for (Index i = 0; i < group; ++i) {
                const Value bound =
                    static_cast<Value>(BlockNoise::bound(uniforms_[first + i])) * (unit / largest[first + i]);
                bounds[static_cast<std::size_t>(i)] = static_cast<float>(bound < most ? bound : most);
            }
            order_.add(std::min(group, blocks_.count - first), bounds);
        }
    }

    /// Let the id with the smallest time of its block arrive.
    Open open(Index block) {
        const BlockNoise noise(uniforms_[block]);
        const Index place = blocks_.first[block], count = row_.block_size_at(place);
        const Index first = row_.block_of(place) * race_block + noise.first;
        const Index at = row_.place_of(first, place, count);
        typename Row::Buffer buffer;
        if (at >= 0) arrive(first, *row_.read(at, 1, buffer), noise.least);
        return {place, count, first, noise.least};
    }

    /// Let the other ids of the opened blocks arrive, if they may still win.
    void let_arrive(std::span<const Open> blocks) {
        Waiting waiting;
        for (std::size_t block = 0; block < blocks.size(); ++block) let_wait(blocks[block], block, waiting);
        noise_(std::span<const std::uint32_t>(waiting.ids).first(waiting.count), waiting.uniforms.data());
        for (std::size_t i = 0; i < waiting.count; ++i) {
            const double uniform = waiting.uniforms[i], least = blocks[waiting.blocks[i]].least;
            if (may_win(least + (1 - uniform), waiting.weights[i]))
                arrive(Index{waiting.ids[i]}, waiting.numbers[i], least - std::log(uniform));
        }
    }

    /// Find the ids of a block that may win.
    /// @param number   the number of the block among the opened blocks
    void let_wait(const Open& block, std::size_t number, Waiting& waiting) {
        std::array<Value, std::size_t{race_block}> padded{};
        typename Row::Buffer buffer;
        const Value* const numbers = row_.read(block.place, block.count, buffer);
        const Value* weights = row_.relative(numbers, block.count, pivot_, padded.data());
        if (weights == numbers && block.count < race_block) {
            std::copy_n(weights, block.count, padded.begin());
            weights = padded.data();
        }
        const auto is_above = [least = least_weight(block.least)](Value weight) { return weight > least; };
        for (std::uint64_t places = places_where(weights, is_above); places != 0; places &= places - 1) {
            const Index i = detail::lowest_bit(places), id = row_.id(block.place + i);
            if (id == block.first || !(numbers[i] > row_.nothing())) continue;
            const std::size_t last = waiting.count++;
            waiting.ids[last] = static_cast<std::uint32_t>(id);
            waiting.numbers[last] = numbers[i];
            waiting.weights[last] = weights[i];
            waiting.blocks[last] = static_cast<std::uint8_t>(number);
        }
    }

    /// Return whether an id of this weight may win with this time. At the longest limit every id may, because weight
    /// and unit may then be too far apart for a ratio.
    bool may_win(double time, const Value& weight) const {
        return limit_ >= longest_time || time < limit_ * (static_cast<double>(weight) / unit_);
    }

    /// Return the weight that an id must exceed to win with this time. Rounding keeps the order, so the next lower
    /// number leaves out no winner.
    Value least_weight(double time) const {
        constexpr double never = std::numeric_limits<Value>::max();
        if (limit_ >= longest_time) return 0;
        return std::nextafter(static_cast<Value>(std::min(time / limit_ * unit_, never)), Value{0});
    }

    /// Enter an id whose exponential time is known.
    void arrive(Index id, const Value& number, double time) {
        if (!(number > row_.nothing())) return;
        if (podium_.enter(static_cast<Token>(id), row_.arrival(time, number))) limit_ = limit();
    }

    /// Return the time at which the pivot comes too late to win.
    double limit() const {
        // The second 2^-12 is for weights in float, whose relative error is below 2e-5 (ScaledExp2).
        constexpr double slack = BlockOrder::slack + 0x1p-12;
        return podium_.is_full() ? row_.time_for(podium_.latest(), pivot_) * slack : longest_time;
    }

    Row row_;
    N& noise_;
    Podium& podium_;
    RaceBlocks<Value> blocks_;
    Eigen::Array<double, RaceBlocks<Value>::most, 1> uniforms_;  ///< the noise of the blocks
    BlockOrder order_;
    Value pivot_ = 0;
    double unit_ = 1;   ///< the pivot's weight, as row_.relative scales it
    double limit_ = 0;  ///< the time at which the pivot comes too late to win
};

}  // namespace detail

namespace kernels {

/// Find the first winners.size() ids of an exponential race, in the order of their arrival.
///
/// @param weights   weights, or a row by RowWeights; a row of logits needs no normaliser
/// @param noise     noise by id and by block of 64 ids
/// @param winners   output: the ids
/// @param arrivals  output: the winners' arrival times; for logits their base-2 logarithms
/// @returns         the number of winners, fewer than asked for if fewer ids have positive weight; -1 if a number is
///                  neither a weight nor a logit: NaN, +infinity, a negative weight, a weight of infinity
/// @draws           one number per block of 64 ids, one more for an id that may win and is not the first of its block
/// @cost            one pass, a random number and a division or a power per block of 64 ids, and another look at the
///                  ids of each block that may hold a winner; up to 18 kB of stack (22 kB for doubles), no allocation
/// @edge            equal arrivals: the lowest id first; an id of weight 0 never wins
/// @source          the minimum of independent exponentials and its index are independent, and the exponential
///                  distribution has no memory: Devroye, "Non-uniform random variate generation", 1986, chapter V
template <Weights W, LaneNoise N>
Index race_winners(const W& weights, N&& noise, std::span<Token> winners, std::span<double> arrivals) {
    if constexpr (detail::SharedWeights<W>)
        if constexpr (decltype(weights.share())::races) return weights.share().race(noise, winners, arrivals);
    detail::Podium podium(winners, arrivals);
    if (!winners.empty() && !detail::Race(weights, noise, podium).run()) return -1;
    return podium.arrived();
}

/// Return the id that wins an exponential race; -1 if no weight is positive, or a number is neither a weight nor a
/// logit.
template <Weights W, LaneNoise N>
Index race_winner(const W& weights, N&& noise) {
    Token winner = -1;
    double arrival = 0;
    return race_winners(weights, noise, {&winner, 1}, {&arrival, 1}) == 1 ? winner : -1;
}

}  // namespace kernels

}}  // namespace specsample

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
//     E'_i ~ Exp(1)                                      one per id, where it is asked for
//     E_i = M for i = J,   E_i = M + E'_i otherwise
//
// These E_i are independent and Exp(1): of 64 such times the smallest is Exp(1) / 64, each id has it with the same
// probability, and what the others take longer is Exp(1) again, since the exponential distribution has no memory. A
// block whose M / max w is too late holds no winner, and nothing more is drawn for it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <specsample/core/number.hpp>
#include <specsample/kernels/race_row.hpp>

namespace specsample::inline SPECSAMPLE_ABI {

namespace kernels {

/// A source of noise: noise(lanes, out) writes a uniform number in (0, 1) per lane, always the same for the same lane
/// and with all of its first 52 bits random.
/// An id is a lane; the block of 64 ids that begins at id is lane 2^31 + id / 64.
template <class N>
concept LaneNoise = std::invocable<N&, std::span<const std::uint32_t>, double*>;
}  // namespace kernels

namespace detail {

/// The noise that the ids of a block share: the smallest of their times, and which of them has it.
///
/// The last six of the 52 bits of a uniform number choose the id, the others make the time: 46 bits resolve the
/// smallest of 64 times as finely as 52 bits resolve the time of one id.
struct BlockNoise {
    explicit BlockNoise(double u) {
        const double cells = u * 0x1p46, cell = std::floor(cells);
        least = -std::log((cell + .5) * 0x1p-46) / race_block;
        first = static_cast<Index>((cells - cell) * race_block);
    }

    /// The smallest time of a uniform number, from below. No logarithm is needed, since -ln v >= 1 - v. The v of a
    /// block is within 2^-47 of its uniform number, and at most 1 - 2^-47.
    static double bound(double u) { return std::max(1 - 0x1p-46 - u, 0x1p-47) / race_block; }

    double least;
    Index first;  ///< counted from the first id of the block
};

/// The earliest arrivals so far, in order; of equal ones the lowest id first.
class Podium {
  public:
    Podium(std::span<Token> winners, std::span<double> arrivals) : winners_(winners), arrivals_(arrivals) {}

    Index arrived() const { return static_cast<Index>(arrived_); }
    bool is_full() const { return arrived_ == winners_.size(); }
    /// The last of them.
    double latest() const { return arrivals_[arrived_ - 1]; }

    void enter(Token id, double arrival) {
        const auto is_later = [&](std::size_t place) {
            return arrivals_[place] > arrival || (arrivals_[place] == arrival && winners_[place] > id);
        };
        if (is_full() && !is_later(arrived_ - 1)) return;
        std::size_t place = is_full() ? arrived_ - 1 : arrived_++;
        for (; place > 0 && is_later(place - 1); --place) {
            arrivals_[place] = arrivals_[place - 1];
            winners_[place] = winners_[place - 1];
        }
        arrivals_[place] = arrival;
        winners_[place] = id;
    }

  private:
    std::span<Token> winners_;
    std::span<double> arrivals_;
    std::size_t arrived_ = 0;
};

/// One race of one row.
///
/// Weights arrive at E / w, and logits at log2(E) - z scale. No pivot is in these times, so that they can be compared
/// wherever they were found. Whether a block or an id may still win is decided by bounds, in weights relative to the
/// largest of some blocks, with some slack, so that rounding leaves out no winner.
template <class W, kernels::LaneNoise N>
class Race {
    using Row = RaceRow<W>;
    using Value = typename Row::Value;
    static constexpr Index most = RaceBlocks<Value>::most, group = RaceBlocks<Value>::group;
    static constexpr Value never = std::numeric_limits<Value>::max();

  public:
    Race(const W& weights, N& noise, Podium& podium) : row_(weights), noise_(noise), podium_(podium) {}

    /// Let all ids race.
    /// @returns   false if a number is neither a weight nor a logit
    bool run() {
        for (Index place = 0; place < row_.size();) {
            for (blocks_.count = 0; place < row_.size() && blocks_.count + row_.lists_at_most() <= most;) {
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
    template <class T>
    using InBlock = std::array<T, std::size_t{race_block}>;

    /// The ids of a block that may win, and their places in it.
    struct Waiting {
        std::size_t count = 0;
        InBlock<std::uint32_t> ids;
        InBlock<Index> places;

        /// Find the places of the weights above `least`, eight of them at a time, which mostly have none.
        void find(const Value* weights, Index size, Value least) {
            InBlock<bool> hits;
            for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = weights[i] > least;
            for (std::size_t first = 0; first < static_cast<std::size_t>(size); first += 8) {
                std::uint64_t some;
                std::memcpy(&some, &hits[first], sizeof some);
                if (some == 0) continue;
                for (std::size_t i = first; i < first + 8; ++i) {
                    places[count] = static_cast<Index>(i);
                    count += hits[i];
                }
            }
        }

        /// Remove an id.
        /// @returns   its place; -1 if it is not here
        Index take(std::uint32_t id) {
            const auto end = ids.begin() + static_cast<std::ptrdiff_t>(count);
            const auto i = static_cast<std::size_t>(std::find(ids.begin(), end, id) - ids.begin());
            if (i == count) return -1;
            const Index place = places[i];
            ids[i] = ids[--count];
            places[i] = places[count];
            return place;
        }
    };

    std::uint32_t lane_of(Index block) const { return block_lane(row_.block_of(blocks_.first[block])); }

    /// Draw the noise of the blocks from `first` on.
    void draw_noise(Index first) {
        std::array<std::uint32_t, std::size_t{Row::most_listed}> lanes;
        const Index count = blocks_.count - first;
        for (Index i = 0; i < count; ++i) lanes[static_cast<std::size_t>(i)] = lane_of(first + i);
        noise_(std::span<const std::uint32_t>(lanes).first(static_cast<std::size_t>(count)), uniforms_.data() + first);
    }

    /// Open blocks in the order of their bounds, up to the first that comes too late. The earliest is the earliest of
    /// its group.
    void run_blocks() {
        const Index count = blocks_.count, groups = (count + group - 1) / group;
        row_.relative(blocks_.largest.data(), count, pivot_, blocks_.largest.data());
        auto bounds = blocks_.largest.head(groups * group);
        for (Index i = 0; i < count; ++i)
            bounds[i] = std::min(static_cast<Value>(BlockNoise::bound(uniforms_[i])) / bounds[i], never / 2);
        bounds.tail(groups * group - count).setConstant(never);
        const auto members_of = [&](Index i) { return bounds.data() + i * group; };

        std::array<Value, std::size_t{group}> earliest;
        earliest.fill(never);
        for (Index i = 0; i < groups; ++i) earliest[static_cast<std::size_t>(i)] = smallest_in_block(members_of(i));
        for (;;) {
            const Value next = smallest_in_block(earliest.data());
            if (!(next < never) || !(static_cast<double>(next) < limit())) return;
            const Index first = place_in_block(earliest.data(), next);
            const Index member = place_in_block(members_of(first), next);
            members_of(first)[member] = never;
            earliest[static_cast<std::size_t>(first)] = smallest_in_block(members_of(first));
            open(first * group + member);
        }
    }

    /// Let the ids of one block arrive: first the one with the smallest time, then those that may still win.
    void open(Index block) {
        const BlockNoise noise(uniforms_[block]);
        const Index place = blocks_.first[block], count = row_.block_size_at(place);
        typename Row::Buffer buffer;
        const Value* numbers = row_.read(place, count, buffer);
        Eigen::Array<Value, race_block, 1> weights;
        row_.relative(numbers, count, pivot_, weights.data());
        weights.tail(race_block - count).setZero();
        Waiting waiting;
        waiting.find(weights.data(), count, least_weight(BlockNoise::bound(uniforms_[block])));
        for (std::size_t i = 0; i < waiting.count; ++i)
            waiting.ids[i] = static_cast<std::uint32_t>(row_.id(place + waiting.places[i]));
        const auto first = static_cast<std::uint32_t>(row_.block_of(place) * race_block + noise.first);
        const Index place_of_first = waiting.take(first);
        if (place_of_first >= 0) arrive(first, numbers[place_of_first], noise.least);

        InBlock<double> uniforms;
        noise_(std::span<const std::uint32_t>(waiting.ids).first(waiting.count), uniforms.data());
        double last = limit();
        for (std::size_t i = 0; i < waiting.count; ++i) {
            const Index at = waiting.places[i];
            if (!(noise.least + (1 - uniforms[i]) < last * static_cast<double>(weights[at]))) continue;
            arrive(waiting.ids[i], numbers[at], noise.least - std::log(uniforms[i]));
            last = limit();
        }
    }

    /// A relative weight is too small to win with a time if it is not above this one. Rounding keeps the order, so that
    /// the next lower number leaves out no winner.
    Value least_weight(double time) const {
        return std::nextafter(static_cast<Value>(std::min(time / limit(), static_cast<double>(never))), Value{0});
    }

    /// Enter an id whose exponential time is known.
    void arrive(std::uint32_t id, const Value& number, double time) {
        const auto x = static_cast<double>(number);
        if (!row_.are_logits()) {
            podium_.enter(static_cast<Token>(id), time / x);
        } else if (is_finite(x)) {
            podium_.enter(static_cast<Token>(id), std::log2(time) - rounded(x * row_.scale()));
        }
    }

    /// The time at which a relative weight of 1 comes too late to win.
    double limit() const {
        constexpr double slack = 1 + 0x1p-12;
        if (!podium_.is_full()) return std::numeric_limits<double>::max();
        const double latest = podium_.latest();
        if (!row_.are_logits()) return std::min(latest, 0x1p1000) * slack;
        const double exponent = latest + static_cast<double>(pivot_) * row_.scale();
        return std::exp2(std::min(exponent + std::abs(latest) * 0x1p-50, 1000.)) * slack;
    }

    Row row_;
    N& noise_;
    Podium& podium_;
    RaceBlocks<Value> blocks_;
    Eigen::Array<double, most, 1> uniforms_;  ///< the noise of the blocks
    Value pivot_ = 0;
};

}  // namespace detail

namespace kernels {

/// The first winners.size() ids of an exponential race, in the order of their arrival.
///
/// @param weights   weights, or a row by RowWeights; a row of logits needs no normaliser
/// @param noise     noise by id and by block of 64 ids
/// @param winners   output: the ids
/// @param arrivals  output: their arrival times, as many; of logits their base-2 logarithms
/// @returns         the number of winners, fewer than asked for if fewer ids have positive weight; -1 if a number is
///                  neither a weight nor a logit: NaN, +infinity, a negative weight, a weight of infinity
/// @draws           one number per block of 64 ids, one more for an id that may win and is not the first of its block
/// @cost            one pass, a random number and a division or a power per block of 64 ids, and of the blocks that may
///                  hold a winner another look at their ids; 36 to 43 kB of stack (of doubles: 44 to 54 kB), no
///                  allocation
/// @edge            equal arrivals: the lowest id first; an id of weight 0 never wins
/// @source          the minimum of independent exponentials and its index are independent, and the exponential
///                  distribution has no memory: Devroye, "Non-uniform random variate generation", 1986, chapter V
template <Weights W, LaneNoise N>
Index race_winners(const W& weights, N&& noise, std::span<Token> winners, std::span<double> arrivals) {
    if constexpr (detail::SharedWeights<W>) return weights.share().race(noise, winners, arrivals);
    detail::Podium podium(winners, arrivals);
    if (!winners.empty() && !detail::Race(weights, noise, podium).run()) return -1;
    return podium.arrived();
}

/// The id that wins an exponential race; -1 if no weight is positive, or a number is neither a weight nor a logit.
template <Weights W, LaneNoise N>
Index race_winner(const W& weights, N&& noise) {
    Token winner = -1;
    double arrival = 0;
    return race_winners(weights, noise, {&winner, 1}, {&arrival, 1}) == 1 ? winner : -1;
}
}  // namespace kernels

}  // namespace specsample

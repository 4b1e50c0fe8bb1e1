// Rows as a race reads them: blocks of ids, each with the largest number that it stores.
//
// Logits race unchanged: the largest logit of a block has the largest weight, so only few logits need an exponential.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/arrivals.hpp>
#include <specsample/kernels/race_order.hpp>
#include <specsample/kernels/race_scan.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The numbers that race, by place: weights, read one by one.
template <class W>
class RaceNumbers {
  public:
    using Value = double;
    using Buffer = std::array<Value, std::size_t{block_size}>;

    explicit RaceNumbers(const W& weights) : weights_(weights) {}

    Index size() const { return weights_.size(); }
    Index id(Index place) const { return kernels::id_of(weights_, place); }
    static constexpr bool are_contiguous() { return false; }

    /// Return the scale of logits, where z stands for the weight 2^(z * scale); 0 for weights.
    static constexpr double log_scale() { return 0; }

    /// Return the numbers at [first, first + count), count <= block_size.
    void expect(Index, Index) const {}
    const Value* read(Index first, Index count, Buffer& buffer) const {
        for (Index i = 0; i < count; ++i) buffer[static_cast<std::size_t>(i)] = weights_[first + i];
        return buffer.data();
    }

  private:
    const W& weights_;
};

/// The numbers of a row. Logits are not turned into weights.
template <class View>
class RaceNumbers<kernels::RowWeights<View>> {
    static constexpr bool is_encoded = is_entries_row<View>;

  public:
    using Value = typename Blocks<View>::Value;
    using Buffer = typename Blocks<View>::Buffer;

    explicit RaceNumbers(const kernels::RowWeights<View>& weights) : row_(weights.row()) {}

    Index size() const { return row_.size(); }
    Index id(Index place) const { return row_.id(place); }
    /// Return whether consecutive places have consecutive ids.
    bool are_contiguous() const {
        if constexpr (is_encoded) return row_.ids().are_contiguous();
        return true;
    }

    double log_scale() const {
        if constexpr (is_encoded) return row_.encoding().is_logit() ? row_.encoding().scale() : 0;
        return 0;
    }

    void expect(Index first, Index count) const { row_.expect(first, count); }
    const Value* read(Index first, Index count, Buffer& buffer) const {
        if constexpr (is_encoded)
            if (row_.encoding().is_logit()) return row_.numbers().read(first, count, buffer);
        return row_.read(first, count, buffer);
    }

  private:
    const Blocks<View>& row_;
};

/// Return the lane of a block's noise. Ids have the lanes below 2^31.
constexpr std::uint32_t block_lane(Index block) { return 0x8000'0000u | static_cast<std::uint32_t>(block); }

/// Blocks of ids that hold a possible winner.
template <class Value>
struct RaceBlocks {
    static constexpr Index most = BlockOrder::most;

    Index count = 0;
    Eigen::Array<std::int32_t, most, 1> first;  ///< the first place of each block
    Eigen::Array<Value, most, 1> largest;       ///< the largest number of each block
};

/// A row that races.
template <class W>
class RaceRow {
    using Numbers = RaceNumbers<W>;

  public:
    using Value = typename Numbers::Value;
    using Buffer = typename Numbers::Buffer;

    static constexpr Index few = 32;
    static constexpr Index least_room = block_size / race_block;  ///< blocks that each read of `list` needs room for

    explicit RaceRow(const W& weights)
        : numbers_(weights),
          log_scale_(std::min(numbers_.log_scale(), 0x1p960)),  // so that products with logits below 2^64 are finite
          nothing_(are_logits() ? -std::numeric_limits<Value>::infinity() : 0) {}

    Index size() const { return numbers_.size(); }
    Index id(Index place) const { return numbers_.id(place); }
    const Value* read(Index first, Index count, Buffer& buffer) const { return numbers_.read(first, count, buffer); }

    /// Return the block that holds the id at a place.
    Index block_of(Index place) const { return id(place) / race_block; }
    /// Return the number of places from `first` on whose ids are in the same block: at most 64, also in a bad row that
    /// repeats ids.
    Index block_size_at(Index first) const {
        if (numbers_.are_contiguous()) return std::min(race_block - id(first) % race_block, size() - first);
        const Index last = std::min(first + race_block, size()), block = block_of(first);
        Index next = first + 1;
        while (next < last && block_of(next) == block) ++next;
        return next - first;
    }
    /// Return the place of an id in the listed block at [first, first + count); -1 if it is not there.
    Index place_of(Index id, Index first, Index count) const {
        if (numbers_.are_contiguous()) {
            const Index place = first + id - this->id(first);
            return place >= first && place < first + count ? place : -1;
        }
        Index place = first;
        while (place < first + count && this->id(place) != id) ++place;
        return place < first + count ? place : -1;
    }

    /// Return the number of an id that cannot win: -inf among logits, 0 among weights.
    Value nothing() const { return nothing_; }

    /// Return whether the numbers are logits: z stands for the weight 2^(z * scale).
    bool are_logits() const { return log_scale_ > 0; }

    /// Return when an id with the exponential time E = `time` arrives: E / w, or log2(E) - z * scale for logits.
    double arrival(double time, const Value& number) const {
        return are_logits() ? std::log2(time) - exponent(number) : arrival_of(time, static_cast<double>(number));
    }
    /// Return the exponential time with which an id of this number would arrive at `arrival`, or later; at most 2^1000.
    double time_for(double arrival, const Value& number) const {
        if (!are_logits()) return time_until(arrival, static_cast<double>(number));
        // 2^-50 of the arrival is more than rounding took off the arrival and off this sum; 2^1000 is the longest time.
        return std::exp2(std::min(arrival + exponent(number) + std::abs(arrival) * 0x1p-50, 1000.));
    }

    /// Return the weights of some numbers. Logits have weights relative to the pivot's weight, and at least the
    /// smallest normal number: a masked id is recognised by its logit.
    /// @param powers   room for the weights of logits
    const Value* relative(const Value* numbers, Index count, Value pivot, Value* powers) const {
        if (!are_logits()) return numbers;
        using Array = Eigen::Array<Value, Eigen::Dynamic, 1>;
        const ScaledExp2<Value> power(pivot, static_cast<Value>(log_scale_));
        Eigen::Map<Array>(powers, count) = Eigen::Map<const Array>(numbers, count)
                                               .unaryExpr(ByReference(power))
                                               .max(std::numeric_limits<Value>::min());
        return powers;
    }

    /// List the blocks at the next places, about `few` if there is room: as many as noise is best drawn for at once.
    /// @returns   the place after the listed blocks; -1 if a number there is neither a weight nor a logit
    Index list(Index place, RaceBlocks<Value>& blocks) const {
        Buffer buffer;
        const Index enough = std::min(blocks.count + few, blocks.most - least_room + 1);
        while (place < size() && blocks.count < enough) {
            // Contiguous ids may begin inside a block. This chunk is then listed by id, and the next one begins with a
            // whole block.
            const bool is_dense = numbers_.are_contiguous() && id(place) % race_block == 0;
            const Index first = is_dense && place % block_size == 0 ? both_halves(place) : place;
            const Index count = std::min(block_size, size() - first);
            const Value* numbers = numbers_.read(first, count, buffer);
            const Index listed =
                is_dense ? list_dense(first, numbers, count, blocks) : list_by_id(first, numbers, count, blocks);
            if (listed < 0) return -1;
            place += listed;
        }
        return place;
    }

  private:
    /// Return the place that is read in the turn of a place at which a block of the row begins.
    Index both_halves(Index place) const { return block_at_step(place / block_size, size() / block_size) * block_size; }

    // list_dense and list_by_id return the number of places whose blocks were listed; -1 if a number there is bad.

    Index list_dense(Index place, const Value* numbers, Index count, RaceBlocks<Value>& blocks) const {
        Index done = 0;
        if constexpr (scans_packets<Value>) {
            done = count - count % (4 * race_block);
            const bool is_doubtful = are_logits() ? list_fours<DoubtLogits>(place, numbers, done, blocks)
                                                  : list_fours<DoubtWeights>(place, numbers, done, blocks);
            if (is_doubtful && !can_race(numbers, done)) return -1;
        }
        for (Index first = done; first < count; first += race_block) {
            const Index size = std::min(race_block, count - first);
            add(blocks, place + first, block_max(size, numbers + first));
        }
        return done == count || can_race(numbers + done, count - done) ? count : -1;
    }

    /// List whole groups of four blocks, and prefetch a later group: a race computes about as long as it reads.
    /// @returns   true if some of the numbers may be bad
    template <class Doubt>
    [[gnu::flatten]] bool list_fours(Index place, const Value* numbers, Index count, RaceBlocks<Value>& blocks) const {
        using Packet = typename Eigen::internal::packet_traits<Value>::type;
        Packet doubt = Eigen::internal::pset1<Packet>(0);
        Eigen::Array<Value, 4, 1> largest;
        for (Index first = 0; first < count; first += 4 * race_block) {
            numbers_.expect(place + first + prefetch_distance, 4 * race_block);
            largest_of_four<Doubt>(numbers + first, doubt, largest.data());
            add_four(blocks, place + first, largest);
        }
        return saw_nan_in(doubt);
    }

    /// List blocks by their ids. Blocks without room, and a last block that goes on after these places, wait for the
    /// next call.
    Index list_by_id(Index place, const Value* numbers, Index count, RaceBlocks<Value>& blocks) const {
        Index first = 0;
        while (first < count && blocks.count < blocks.most) {
            const Index next = first + block_size_at(place + first);
            if (next > count) break;
            add(blocks, place + first, block_max(next - first, numbers + first));
            first = next;
        }
        return can_race(numbers, count) ? first : -1;
    }

    /// Add a block, if one of its ids can win.
    EIGEN_ALWAYS_INLINE void add(RaceBlocks<Value>& blocks, Index place, const Value& largest) const {
        const Index last = blocks.count;
        blocks.first[last] = static_cast<std::int32_t>(place);
        blocks.largest[last] = largest;
        blocks.count = last + (largest > nothing_);
    }

    /// Add four blocks. They are tested at once, because usually all four hold an id that can win.
    EIGEN_ALWAYS_INLINE void add_four(RaceBlocks<Value>& blocks, Index place,
                                      const Eigen::Array<Value, 4, 1>& largest) const {
        if (largest.minCoeff() > nothing_) {
            for (Index i = 0; i < 4; ++i)
                blocks.first[blocks.count + i] = static_cast<std::int32_t>(place + i * race_block);
            blocks.largest.template segment<4>(blocks.count) = largest;
            blocks.count += 4;
        } else {
            for (Index i = 0; i < 4; ++i) add(blocks, place + i * race_block, largest[i]);
        }
    }

    /// Return whether all numbers are weights, or all are logits. An infinite logit is not found here: Race::run finds
    /// it as the largest number.
    bool can_race(const Value* numbers, Index count) const {
        if (are_logits()) return !has_nan(numbers, count);
        return !sees<WeightWatch<Value>>(numbers, count) || std::all_of(numbers, numbers + count, [](const Value& x) {
            return is_zero(static_cast<double>(x)) || is_positive(static_cast<double>(x));
        });
    }

    /// Return log2 of the weight of a logit, kept finite: the difference of two infinite logarithms would be NaN.
    double exponent(const Value& logit) const {
        constexpr double most = std::numeric_limits<double>::max();
        return std::clamp(rounded(static_cast<double>(logit) * log_scale_), -most, most);
    }

    Numbers numbers_;
    double log_scale_;
    Value nothing_;
};

}}}  // namespace specsample::detail

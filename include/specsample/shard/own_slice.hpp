// What one rank finds in a split row by reading its own slice.
//
//   OwnSlice       the numbers of the slice: finds the largest, the winner of a race, bad numbers
//   Best, Picked   results that a rank sends to the others
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/shard/split.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

using specsample::detail::Blocks;
using specsample::detail::Column;
using specsample::detail::Compute;
using specsample::detail::Encoding;
using specsample::detail::OddNumbers;

/// The ids of a slice of a row.
class SliceIds {
  public:
    explicit SliceIds(const SliceBounds& slice) : first_(slice.first), count_(slice.count) {}

    static constexpr bool holds_every_id() { return false; }
    static constexpr bool are_listed = true;
    static constexpr bool are_contiguous() { return true; }
    Index id(Index place) const { return first_ + place; }
    Index place_of(Index id) const { return id < first_ || id >= first_ + count_ ? -1 : id - first_; }
    Index size(Index) const { return count_; }
    Index first_from(Index id, Index from = 0) const { return std::clamp(id - first_, from, std::max(from, count_)); }

  private:
    Index first_;
    Index count_;
};

/// What a draw or a race may ask of an exchange, besides entries.
struct Wants {
    bool pivot = false;    ///< the largest logit of the first block
    bool sums = false;     ///< the sums of blocks of probabilities
    bool largest = false;  ///< the id of the largest number
    bool race = false;     ///< the winner of a race
};

/// The encoding that a row's sums were made with. Under another one they must be made again.
struct SumsKey {
    double pivot = 0;
    double factor = 0;
    bool operator==(const SumsKey&) const = default;
};

/// The winner of a race, or the largest number, of one rank or of all ranks.
struct Best {
    enum class Found : std::int32_t { nothing, one, bad } found = Found::nothing;
    Index id = -1;
    double number = 0;  ///< the arrival of the winner, or the largest number

    /// Return the id; -1 if there is none.
    Index index() const { return found == Found::one ? id : -1; }
};

/// Merge the result of the next rank, whose ids are higher, into `best`.
inline void add_find(Best& best, const Best& next, bool is_better) {
    if (best.found == Best::Found::bad || next.found == Best::Found::nothing) return;
    if (next.found == Best::Found::bad || best.found == Best::Found::nothing || is_better) best = next;
}

/// The place that a draw has picked and the number there, found by the rank that holds the block.
template <class Scalar>
struct Picked {
    Index place = -1;
    Scalar number{};
};

/// The places of positive weight that are nearest to a given place, before and after it.
template <class Scalar>
struct Nearest {
    Picked<Scalar> before, after;
};

/// An id that a rank puts on a list.
template <class Scalar>
struct Listed {
    Index id = -1;    ///< -1: the rank's numbers are bad
    double key = 0;   ///< the list is sorted by it, lowest first
    Scalar number{};  ///< the number in its stored type
};

/// The numbers of a slice.
template <class Scalar>
class OwnSlice {
    using Value = Compute<Scalar>;

  public:
    OwnSlice() = default;
    OwnSlice(const Scalar* numbers, const SliceBounds& bounds, const Encoding<Value>& encoding)
        : numbers_(numbers), bounds_(bounds), encoding_(encoding) {}

    const SliceBounds& bounds() const { return bounds_; }
    bool has(Index id) const { return id >= bounds_.first && id < bounds_.end(); }
    Scalar operator[](Index id) const { return numbers_[id - bounds_.first]; }
    const Scalar* from(Index id) const { return numbers_ + (id - bounds_.first); }
    /// Return the numbers as a row whose place 0 is the first id of the slice.
    Column<Scalar> row() const { return Column<Scalar>(numbers_, bounds_.count); }
    Blocks<Column<Scalar>> blocks() const { return Blocks<Column<Scalar>>(row()); }
    /// Tell whether all weight is on the largest number.
    bool is_greedy() const { return encoding_.is_peak(); }

    /// Find the largest number among the ids below `end`.
    double largest(Index end) const {
        return specsample::detail::largest(blocks(), 0, std::clamp<Index>(end - bounds_.first, 0, bounds_.count));
    }

    /// Find the id of the largest number.
    Best largest_id() const {
        const Index place = specsample::detail::largest_id(blocks());
        if (place >= 0) return {Best::Found::one, bounds_.first + place, static_cast<double>(numbers_[place])};
        const bool is_bad = std::any_of(numbers_, numbers_ + bounds_.count, [](const Scalar& x) {
            const auto wide = static_cast<double>(x);
            return specsample::detail::is_nan(wide) || specsample::detail::is_infinity(wide);
        });
        return {is_bad ? Best::Found::bad : Best::Found::nothing};
    }

    /// Race the ids of the slice and write the first to arrive to `winners`. Returns how many there are; -1 if a number
    /// is bad.
    template <kernels::LaneNoise Noise>
    Index race(Noise&& noise, std::span<Token> winners, std::span<double> arrivals) const {
        const specsample::detail::Entries entries(row(), SliceIds(bounds_), bounds_.vocab, encoding_);
        return kernels::race_winners(kernels::RowWeights(entries.row()), noise, winners, arrivals);
    }
    template <kernels::LaneNoise Noise>
    Best race(Noise&& noise) const {
        Token winner = -1;
        double arrival = 0;
        const Index arrived = race(noise, {&winner, 1}, {&arrival, 1});
        return {arrived < 0   ? Best::Found::bad
                : arrived > 0 ? Best::Found::one
                              : Best::Found::nothing,
                winner, arrival};
    }

    /// Find the places of positive weight that are nearest to `from`: one at or before it, one after it.
    template <kernels::Weights W>
    Nearest<Scalar> nearest(const W& weights, Index from) const {
        const auto find_in = [&](Index id, Index end, Index step) -> Picked<Scalar> {
            for (; id != end; id += step)
                if (weights[id] > 0) return {id, (*this)[id]};
            return {};
        };
        if (bounds_.count == 0) return {};
        const Index after = std::clamp(from + 1, bounds_.first, bounds_.end());
        return {find_in(after - 1, bounds_.first - 1, -1), find_in(after, bounds_.end(), 1)};
    }

    /// Inspect the numbers for what makes a row bad; the result names ids.
    OddNumbers odd(double tolerance) const {
        return specsample::detail::find_odd([&](Index id) { return static_cast<double>((*this)[id]); }, bounds_.first,
                                            bounds_.end(), tolerance);
    }

  private:
    const Scalar* numbers_ = nullptr;
    SliceBounds bounds_;
    Encoding<Value> encoding_;
};

}}}  // namespace specsample::shard::detail

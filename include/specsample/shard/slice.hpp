// How kernels read a split row: like a whole row, although this rank holds only some of its blocks.
//
// Places are ids of the whole vocabulary. A kernel that sums a whole row calls share(): every rank sums the blocks that
// it holds (Ranks::alone), and the ranks exchange the sums. A kernel that reads any other number must do so on every
// rank, and the ranks then gather the whole row.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include <specsample/core/eigen.hpp>
#include <specsample/shard/row_exchange.hpp>
#include <specsample/shard/row_gather.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace shard::detail {

/// A split row, as the row type that kernels take.
template <class Number>
class Slice {
  public:
    using Scalar = Number;

    Slice() = default;
    explicit Slice(RowState<Number>& state) : state_(&state) {}

    Index size() const { return state_->vocab(); }
    Number coeff(Index id) const { return state_->number_at(id); }
    RowState<Number>& state() const { return *state_; }
    /// Exchange the entry of an id, unless all ranks have it.
    void fetch(Index id) const { state_->fetch(id); }
    /// Gather all entries, unless the other row is split over the same Ranks.
    template <class Other>
    void fetch_beside(const Slice<Other>& other) const {
        if (&state_->ranks() != &other.state().ranks()) state_->fetch_whole();
    }
    /// Remember the number of a drawn token, to notice a later change of the row.
    void remember(Token id) const { state_->remember_drawn(id); }

  private:
    RowState<Number>* state_ = nullptr;
};

/// Sums the weights of a split row, and draws from them, by all ranks together.
/// @tparam is_changed   true if the weights are a residual of the row, or the row without some ids
template <class Scalar, bool is_changed = false>
class Share {
  public:
    static constexpr bool races = !is_changed;

    explicit Share(RowState<Scalar>& state) : state_(&state) {}

    /// Return the share for the row's own weights in an encoding.
    template <class Value>
    Share of(const Encoding<Value>& encoding) const {
        Share share = *this;
        share.key_ = encoding.is_logit() ? SumsKey{encoding.pivot(), encoding.factor()} : SumsKey{};
        if (encoding.is_peak()) share.peak_ = encoding.peak();
        share.is_logit_ = encoding.is_logit();
        return share;
    }
    /// Return the share for weights that are left of the row.
    Share<Scalar, true> changed() const { return Share<Scalar, true>(*state_); }

    /// Write the sums of all blocks.
    template <class W>
    void sum_blocks(const W& weights, std::span<double> sums) const {
        if (peak_) {  // all ranks know it
            std::ranges::fill(sums, 0);
            if (*peak_ >= 0)
                sums[static_cast<std::size_t>(*peak_ / specsample::detail::block_length(weights.size()))] = 1;
        } else {
            state_->sum_blocks(weights, key_, sums);
        }
    }
    /// Find the place in the block [first, end) at which the running sum of weights passes `rest`.
    template <class W>
    Index pick(const W& weights, Index first, Index end, double rest) const {
        return peak_ ? *peak_ : state_->pick(weights, first, end, rest);
    }

    /// Return the answer of the rank that holds the block at `first`.
    template <class Answer>
    double ask_holder(Index first, const Answer& answer) const {
        return state_->ask_holder(first, answer);
    }

    /// Race the ids of all ranks; see RowState::race.
    template <class Noise>
        requires(!is_changed)
    Index race(Noise&& noise, std::span<Token> winners, std::span<double> arrivals) const {
        return state_->race(noise, winners, arrivals);
    }

    /// Find the places of the largest of `numbers`, the row in an encoding.
    template <class Numbers, class Place>
    Index largest_places(const Numbers& numbers, std::span<Place> places, double least) const {
        return state_->largest_places(numbers, places, least);
    }

    /// Find the sum of the negative entries; 0 for logits.
    double negative() const { return is_logit_ || peak_ ? 0 : state_->negative(); }
    OddNumbers odd_numbers(double tolerance) const { return state_->odd_numbers(tolerance); }
    /// Return the fault that the ranks found in the row, if any.
    std::optional<RowFault> fault() const { return state_->fault(); }

  private:
    RowState<Scalar>* state_;
    std::optional<SumsKey> key_{};
    std::optional<Index> peak_{};
    bool is_logit_ = false;
};

}  // namespace shard::detail

namespace detail {

/// Reads a split row block by block.
template <class Number>
class Blocks<shard::detail::Slice<Number>> {
    using Slice = shard::detail::Slice<Number>;

  public:
    using Scalar = Number;
    using Value = Compute<Number>;
    using Buffer = Eigen::Array<Value, block_size, 1>;

    static constexpr bool is_split = true;
    static constexpr bool is_slice = true;
    static constexpr bool are_powers() { return false; }
    static constexpr bool has_list = false;
    static constexpr bool holds_every_id() { return true; }

    explicit Blocks(const Slice& slice) : slice_(slice) {}

    Index size() const { return slice_.size(); }
    double operator[](Index place) const { return static_cast<double>(slice_.coeff(place)); }
    double at(Index id) const { return (*this)[id]; }

    const Blocks& numbers() const { return *this; }
    static Index id(Index place) { return place; }
    static Index place_of(Index id) { return id; }

    const Value* read(Index first, Index count, Buffer& buffer) const {
        const auto [numbers, before] = slice_.state().numbers_from(first);
        return numbers.read(first - before, count, buffer);
    }
    auto stored(Index first, Index count, Buffer& buffer) const {
        const auto [numbers, before] = slice_.state().numbers_from(first);
        return numbers.stored(first - before, count, buffer);
    }
    template <class F>
    decltype(auto) visit(Index first, Index count, Buffer& buffer, F&& f) const {
        const auto [numbers, before] = slice_.state().numbers_from(first);
        return numbers.visit(first - before, count, buffer, f);
    }
    void expect(Index first, Index count) const { slice_.state().expect(first, count); }

    // Found by all ranks together.
    auto share() const { return shard::detail::Share<Number>(slice_.state()); }
    double largest(Index, Index count) const { return slice_.state().largest(count > block_size); }
    Index largest_id() const { return slice_.state().largest_id(); }

  private:
    Slice slice_;
};

}  // namespace detail

}}  // namespace specsample

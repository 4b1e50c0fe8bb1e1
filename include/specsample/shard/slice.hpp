// A slice of a row as kernels read it: as the whole row, of which only some blocks are here.
//
// Places are ids of the whole vocabulary. What adds up a whole row asks share(), which adds up with the other ranks and
// reads the blocks that are here (Ranks::alone). Whoever reads more than that does so on every rank, which then have
// the whole row.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include <specsample/shard/row_exchange.hpp>
#include <specsample/shard/row_gather.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace shard::detail {

/// A row of which this rank holds a slice.
template <class Number>
class Slice {
  public:
    using Scalar = Number;

    Slice() = default;
    explicit Slice(RowState<Number>& state) : state_(&state) {}

    Index size() const { return state_->vocab(); }
    Number coeff(Index id) const { return state_->number_at(id); }
    RowState<Number>& state() const { return *state_; }
    /// Find the entry of an id, unless all ranks have it.
    void fetch(Index id) const { state_->fetch(id); }
    /// Find all entries, unless the ranks share the other row in the same way.
    template <class Other>
    void fetch_beside(const Slice<Other>& other) const {
        if (&state_->ranks() != &other.state().ranks()) state_->fetch_whole();
    }
    /// Remember that a token was drawn.
    void remember(Token id) const { state_->remember_drawn(id); }

  private:
    RowState<Number>* state_ = nullptr;
};

/// How the weights of a row are summed, and picked from, by all ranks together.
/// @tparam is_changed   whether they are what is left of the row
template <class Scalar, bool is_changed = false>
class Share {
  public:
    explicit Share(RowState<Scalar>& state) : state_(&state) {}

    /// The share of the row itself, in an encoding.
    template <class Value>
    Share of(const Encoding<Value>& encoding) const {
        Share share = *this;
        share.key_ = encoding.is_logit() ? SumsKey{encoding.pivot(), encoding.factor()} : SumsKey{};
        if (encoding.is_peak()) share.peak_ = encoding.peak();
        share.is_logit_ = encoding.is_logit();
        return share;
    }
    /// The share of what is left of the row.
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
    /// The place at `rest` in the block [first, end).
    template <class W>
    Index pick(const W& weights, Index first, Index end, double rest) const {
        return peak_ ? *peak_ : state_->pick(weights, first, end, rest);
    }

    /// What the rank that holds the block at `first` answers.
    template <class Answer>
    double ask_holder(Index first, const Answer& answer) const {
        return state_->ask_holder(first, answer);
    }

    /// The first to arrive in a race.
    template <class Noise>
        requires(!is_changed)
    Index race(Noise&& noise, std::span<Token> winners, std::span<double> arrivals) const {
        return state_->race(noise, winners, arrivals);
    }

    /// The places of the largest numbers of the row, as it is encoded in `numbers`.
    template <class Numbers, class Place>
    Index largest_places(const Numbers& numbers, std::span<Place> places, double least) const {
        return state_->largest_places(numbers, places, least);
    }

    /// The sum of what is negative.
    double negative() const { return is_logit_ || peak_ ? 0 : state_->negative(); }
    OddNumbers odd_numbers(double tolerance) const { return state_->odd_numbers(tolerance); }
    /// The fault that the ranks found in the row, if any.
    std::optional<RowFault> fault() const { return state_->fault(); }

  private:
    RowState<Scalar>* state_;
    std::optional<SumsKey> key_{};
    std::optional<Index> peak_{};
    bool is_logit_ = false;
};

}  // namespace shard::detail

namespace detail {

/// A slice, read in blocks.
template <class Number>
class Blocks<shard::detail::Slice<Number>> {
    using Slice = shard::detail::Slice<Number>;

  public:
    using Scalar = Number;
    using Value = Compute<Number>;
    using Buffer = Eigen::Array<Value, block_size, 1>;

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

    // By all ranks together.
    auto share() const { return shard::detail::Share<Number>(slice_.state()); }
    double largest(Index, Index count) const { return slice_.state().largest(count > block_size); }
    Index largest_id() const { return slice_.state().largest_id(); }

  private:
    Slice slice_;
};

}  // namespace detail

}}  // namespace specsample

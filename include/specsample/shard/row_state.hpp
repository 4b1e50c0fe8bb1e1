// What a rank knows of a split row: its own slice, and everything that the other ranks have sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <specsample/kernels/draw.hpp>
#include <specsample/shard/nucleus.hpp>
#include <specsample/shard/row_lists.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// The state of a row of `Scalar`.
///
/// Non-const functions may communicate: all ranks must call them in the same order. A function makes an exchange if it
/// needs a number that this rank does not know. Apart from the slices all ranks know the same, so they all make the
/// exchange or none does.
template <class Scalar>
class RowState final : public RowLists<Scalar> {
    using Base = RowLists<Scalar>;
    using Base::bounds_, Base::cut_, Base::fault_, Base::is_open_, Base::mine_, Base::ranks_;
    using Base::count_at, Base::cut_numbers, Base::exchange, Base::find, Base::has_block, Base::is_cut, Base::length,
        Base::remember, Base::split;
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  public:
    using Base::number_at, Base::vocab;
    using typename Base::Gathered;

    /// Begin with a new row.
    void start(Ranks& ranks, const SliceBounds& bounds) {
        Base::start(ranks, bounds);
        wanted_.clear();
        wants_ = {};
        known_ = {};
    }

    // RankRow.
    std::uint64_t wish() const override;
    void fail(const RowFault& fault) override;
    void write(Topic topic, Writer& out) override;
    void read(Topic topic, Index rank, Reader& in) override;
    void finish(Topic topic) override;

    // Wants: the caller sets them, then exchanges Topic::open.

    /// Ask the next exchange for the entry of an id, unless all ranks have it.
    void want_entry(Index id) {
        if (id < 0 || id >= vocab() || is_cut(id) || find(id)) return;
        if (std::ranges::find(wanted_, id) == wanted_.end()) wanted_.push_back(static_cast<Token>(id));
    }
    Wants& wants() { return wants_; }
    void open() { exchange(Topic::open); }
    /// Exchange the entry of an id, unless all ranks have it.
    void fetch(Index id) {
        want_entry(id);
        if (!wanted_.empty() && !fault_) open();
    }

    // Results that all ranks find together.

    /// Find the largest number of the whole row if `of_all`, else of the first block.
    double largest(bool of_all) {
        std::optional<double>& found = of_all ? known_.largest : known_.first_largest;
        if (found || fault_) return found.value_or(nan);
        wants_.pivot = !of_all;
        exchange(of_all ? Topic::largest : Topic::open);
        return found.value_or(nan);
    }

    /// Find the id of the largest number; -1 if there is none.
    Index largest_id() {
        if (!known_.largest_id && !fault_) {
            wants_.largest = true;
            open();
        }
        return known_.largest_id.value_or(Best{}).index();
    }

    /// Race the ids of all ranks and write the first to arrive to `winners`. Returns how many there are; -1 if a number
    /// is bad, or if a single winner was asked for and none arrives.
    template <class Noise>
    Index race(Noise&& noise, std::span<Token> winners, std::span<double> arrivals) {
        if (winners.size() != 1 && !mine_.is_greedy()) return Base::race_for_several(noise, winners, arrivals);
        const Index winner = mine_.is_greedy() ? largest_id() : find_winner(noise);
        winners[0] = static_cast<Token>(winner);
        return winner < 0 ? -1 : 1;
    }
    /// Race the ids of this rank; the next exchange of Topic::open finds the winner of all ranks.
    template <class Noise>
    void race_mine(Noise&& noise) {
        wants_.race = true;
        my_winner_ = mine_.race(noise);
        next_race_key_ = key_of(noise);
    }

    /// Write the sums of all blocks of weights, in the order of ids.
    /// @param key   the encoding, if the weights are the row's own: their sums are made only once
    template <class W>
    void sum_blocks(const W& weights, const std::optional<SumsKey>& key, std::span<double> sums) {
        if (!key || known_.sums_key != key) find_sums(weights, key);
        if (fault_) {
            std::ranges::fill(sums, nan);
        } else {
            std::ranges::copy(key ? row_sums_ : by_block_, sums.begin());
        }
    }
    /// Sum the blocks of weights that this rank holds, for an exchange of Topic::sums.
    template <class W>
    void sum_mine(const W& weights) {
        by_block_.assign(static_cast<std::size_t>(split().blocks()), 0);
        for (Index block = 0; block < split().blocks(); ++block) {
            const Index first = block * length();
            if (!has_block(first)) continue;
            by_block_[static_cast<std::size_t>(block)] =
                ranks_->alone([&] { return weights.sum(first, count_at(first)); });
        }
    }
    /// Keep the sums of the last exchange as the row's own, made in this encoding.
    void keep_sums(const SumsKey& key) {
        known_.sums_key = key;
        row_sums_ = by_block_;
    }

    /// Find the sum of the negative entries of a row of probabilities.
    double negative() {
        if (!known_.negative && !fault_) {
            wants_.sums = true;
            open();
        }
        return known_.negative.value_or(0);
    }

    /// Find the place in the block [first, end) at which the running sum of weights passes `rest`.
    template <class W>
    Index pick(const W& weights, Index first, Index end, double rest) {
        if (fault_) return -1;
        const std::uint64_t key = Digest().add(first).add(rest).value();
        if (known_.pick_key != key) {
            pick_mine(weights, first, end, rest);
            if (ranks_->collects()) return -1;
            if (split().holder(first) >= 0) exchange(Topic::pick, key);
        }
        known_.pick_key.reset();
        if (picked_.place < 0 && !fault_) find_nearest(weights, ~picked_.place);
        if (fault_ || picked_.place < 0) return -1;
        remember(picked_.place, picked_.number);
        return picked_.place;
    }

    /// Tell whether a draw still has to exchange its place.
    bool is_picking() const { return known_.pick_key.has_value() && picking_rank_ >= 0; }

    /// Gather the logits that a pipeline reaches and the logits that it changes. Gathers the whole row if the pipeline
    /// reaches all or many ids, or if a number is bad.
    /// @param context   the text before the row; must be equal on all ranks
    /// @param change    change(count) applies the pipeline's changes to the first `count` of `numbers`, the logits of
    ///                  `ids`
    /// @throws          Fault if the ranks disagree
    template <class Wide, class Change>
    Gathered gather(const filters::Outlook& outlook, std::span<const Token> context, std::vector<Wide>& numbers,
                    std::vector<Token>& ids, const Change& change);

    /// Inspect the numbers of the row for what makes it bad.
    OddNumbers odd_numbers(double tolerance) {
        odd_ = mine_.odd(tolerance);
        all_odd_ = {};
        if (!fault_) exchange(Topic::odd);
        return all_odd_;
    }

  private:
    /// What the ranks have found together.
    struct Known {
        std::optional<double> first_largest{}, largest{};
        std::optional<Best> largest_id{};
        std::optional<SumsKey> sums_key{};  ///< the encoding of the weights that row_sums_ sums
        std::optional<double> negative{};
        std::optional<double> race_key{};         ///< identifies the race that winner_ has won
        std::optional<std::uint64_t> pick_key{};  ///< identifies the draw that picked_ comes from
    };

    /// Gather the numbers of a nucleus, and perhaps some more.
    /// @returns   a count of -1 if a number is bad, or if the nucleus is a large part of the row
    template <class Wide, class Change>
    Gathered gather_nucleus(const filters::Reach& reach, std::uint64_t key, std::vector<Wide>& numbers,
                            std::vector<Token>& ids, const Change& change);

    /// Copy this rank's numbers and apply the pipeline's changes to the copy.
    template <class Wide>
    std::span<const Wide> changed_mine(std::vector<Wide>& numbers) const {
        const std::size_t count = Base::copy_mine(numbers).size();
        nucleus_.change(bounds_.first, std::span(numbers).first(count));
        return std::span<const Wide>(numbers).first(count);
    }

    template <class Noise>
    static double key_of(Noise&& noise) {
        const std::uint32_t lane = 0x7fff'ffff;  // the lane of no id
        double key = 0;
        noise(std::span(&lane, 1), &key);
        return key;
    }

    template <class Noise>
    Index find_winner(Noise&& noise) {
        if (known_.race_key != key_of(noise) && !fault_) {
            race_mine(noise);
            open();
        }
        return fault_ ? -1 : winner_.index();
    }

    template <class W>
    void find_sums(const W& weights, const std::optional<SumsKey>& key) {
        const bool are_entries = key == SumsKey{};
        if (are_entries) wants_.sums = true;
        if ((are_entries || !is_open_) && !fault_) open();
        if (are_entries || fault_) return;
        sum_mine(weights);
        exchange(Topic::sums);
        if (key && !fault_) keep_sums(*key);
    }

    template <class W>
    void pick_mine(const W& weights, Index first, Index end, double rest) {
        picked_ = {};
        picking_rank_ = split().holder(first);
        known_.pick_key = Digest().add(first).add(rest).value();
        if (!has_block(first)) return;
        ranks_->alone([&] {
            picked_.place = specsample::detail::pick_in_block(weights, first, end, rest);
            if (picked_.place >= 0) picked_.number = number_at(picked_.place);
        });
    }

    /// Find the last place of positive weight at or before `from`, else the first one after it. A draw needs it where
    /// rounding overshoots.
    template <class W>
    void find_nearest(const W& weights, Index from) {
        nearest_ = ranks_->alone([&] { return mine_.nearest(weights, from); });
        picked_ = {};
        after_ = {};
        exchange(Topic::nearest, static_cast<std::uint64_t>(from));
        if (picked_.place < 0) picked_ = after_;
    }

    void write_open(Writer& out) const;
    void read_open(Index rank, Reader& in);
    void finish_open();
    template <class Blocks>
    double negative_sum(const Blocks& numbers, Index rank) const;

    std::vector<Token> wanted_;  ///< the ids whose numbers are wanted
    Wants wants_;

    Known known_;
    std::vector<double> row_sums_, by_block_;  ///< the row's own sums; the sums of the last exchange
    double next_race_key_ = 0;
    Best winner_, my_winner_;
    Index picking_rank_ = 0;
    Picked<Scalar> picked_, after_;
    Nearest<Scalar> nearest_;
    OddNumbers odd_, all_odd_;
    NucleusSearch<specsample::detail::Compute<Scalar>> nucleus_;
};

}}}  // namespace specsample::shard::detail

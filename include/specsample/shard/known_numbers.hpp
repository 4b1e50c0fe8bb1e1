// The numbers of a split row that one rank has: its slice, the blocks that borders cut, and numbers from other ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <specsample/core/bits.hpp>
#include <specsample/shard/own_slice.hpp>
#include <specsample/shard/ranks.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// The numbers of a row that this rank has.
template <class Scalar>
class KnownNumbers : public RankRow {
    using Value = Compute<Scalar>;
    using Numbers = Blocks<Column<Scalar>>;

  public:
    /// Set where the slice lies in memory, and the encoding in which its numbers race.
    void attach(const Scalar* numbers, const Encoding<Value>& encoding) { mine_ = {numbers, bounds_, encoding}; }

    Index vocab() const { return bounds_.vocab; }

    // RankRow.
    Ranks& ranks() const override { return *ranks_; }
    SliceBounds bounds() const override { return bounds_; }
    const std::optional<RowFault>& fault() const override { return fault_; }

    /// Return the number of an id. If not all ranks know it, all ranks gather the row, except inside Ranks::alone.
    Scalar number_at(Index id) {
        if (ranks_->is_alone() && mine_.has(id)) return mine_[id];
        if (is_cut(id)) return cut_[static_cast<std::size_t>(split().place_in_cut(id))];
        if (const Scalar* found = find(id)) return *found;
        fetch_whole();
        return whole_[static_cast<std::size_t>(id)];
    }

    /// Return a view of numbers that contains the block of `first`, and the id of its first place. All ranks gather the
    /// row for this, except inside Ranks::alone.
    std::pair<Numbers, Index> numbers_from(Index first) {
        if (ranks_->is_alone() && is_cut(first)) return {cut_numbers(), first - split().place_in_cut(first)};
        if (ranks_->is_alone() && mine_.has(first)) return {mine_.blocks(), bounds_.first};
        fetch_whole();
        return {Numbers(whole()), 0};
    }

    /// Gather all entries, unless they were gathered before.
    void fetch_whole() {
        if (!is_whole_) gather_whole();
    }

    /// Gather the whole row. If the ranks disagree, its numbers are NaN.
    /// @param key   any number that must be the same on every rank
    [[gnu::cold, gnu::noinline]] void gather_whole(std::uint64_t key = 0) {
        if (ranks_->is_alone())
            specsample::detail::raise(std::logic_error("specsample::Sharded: a rank alone reads what others hold"));
        whole_.resize(static_cast<std::size_t>(vocab()));
        if (!fault_) exchange(Topic::numbers, key);
        if (fault_) std::ranges::fill(whole_, std::numeric_limits<Scalar>::quiet_NaN());
        is_whole_ = true;
    }
    /// Remember the number of a drawn token if it lies in this rank's slice: the next exchange reports a change.
    void remember_drawn(Token id) {
        if (mine_.has(id) && std::ranges::find(drawn_, Index{id}, &Entry::id) == drawn_.end())
            drawn_.push_back({id, mine_[id]});
    }
    /// Prefetch a range of the slice.
    void expect(Index first, Index count) const {
        mine_.blocks().expect(std::max<Index>(first - bounds_.first, 0), count);
    }

  protected:
    void start(Ranks& ranks, const SliceBounds& bounds) {
        ranks_ = &ranks;
        bounds_ = bounds;
        is_open_ = is_whole_ = false;
        fault_.reset();
        entries_.clear();
        drawn_.clear();
    }

    const Split& split() const { return ranks_->split(); }
    Index length() const { return split().block_length(); }
    Index count_at(Index first) const { return std::min(length(), vocab() - first); }
    bool is_cut(Index id) const { return is_open_ && split().holder(id) < 0; }
    bool has_block(Index first) const {
        const Index holder = split().holder(first);
        return holder < 0 || holder == ranks_->rank();
    }
    Column<Scalar> whole() const { return Column<Scalar>(whole_.data(), vocab()); }
    Numbers cut_numbers() const { return Numbers(Column<Scalar>(cut_.data(), std::ssize(cut_))); }

    void exchange(Topic topic, std::uint64_t key = 0) {
        RankRow* const self = this;
        ranks_->exchange(topic, {&self, 1}, key);
    }

    const Scalar* find(Index id) const {
        const auto at = std::ranges::find(entries_, id, &Entry::id);
        return at == entries_.end() ? nullptr : &at->number;
    }
    void remember(Index id, Scalar number) {
        if (!find(id)) entries_.push_back({id, number});
    }

    /// Return the fault of the first remembered number that has changed since.
    std::optional<RowFault> changed_number() const {
        for (const auto& [id, before] : drawn_) {
            const auto is = static_cast<double>(mine_[id]), was = static_cast<double>(before);
            if (is != was &&
                specsample::detail::bit_cast<std::uint64_t>(is) != specsample::detail::bit_cast<std::uint64_t>(was))
                return RowFault{.side = Side::draft, .cause = Cause::row_changed, .value = is, .bound = was, .id = id};
        }
        return std::nullopt;
    }

    Ranks* ranks_ = nullptr;
    SliceBounds bounds_;
    OwnSlice<Scalar> mine_;
    std::optional<RowFault> fault_;
    bool is_open_ = false;     ///< true once the blocks that borders cut were exchanged
    std::vector<Scalar> cut_;  ///< the numbers of the cut blocks

    void write_numbers(Writer& out) const {
        out.put_bytes(std::as_bytes(std::span(mine_.from(bounds_.first), static_cast<std::size_t>(bounds_.count))));
    }
    void read_numbers(Index rank, Reader& in) {
        const SliceBounds& slice = split().slices()[static_cast<std::size_t>(rank)];
        in.take_bytes(std::as_writable_bytes(
            std::span(whole_).subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.count))));
    }

  private:
    struct Entry {
        Index id;
        Scalar number;
    };
    std::vector<Entry> entries_;  ///< numbers that were exchanged
    std::vector<Entry> drawn_;    ///< numbers of this rank's slice, kept since their draw
    bool is_whole_ = false;       ///< true once all numbers were exchanged
    std::vector<Scalar> whole_;   ///< all numbers
};

}}}  // namespace specsample::shard::detail

// The split of a vocabulary over ranks: which rank holds which ids.
//
//   even_slice   the slice of one rank in an even split
//
// Sums are made by blocks of ids, exactly as for a whole row. A block inside one slice is summed by the rank that holds
// it. A block that a border between slices cuts is sent to all ranks, and every rank sums it. So a block has the same
// sum under every split.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/kernels/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// The slice of one rank.
struct SliceBounds {
    Index first = 0;  ///< its first id
    Index count = 0;  ///< the number of its ids
    Index vocab = 0;  ///< the size of the vocabulary

    Index end() const { return first + count; }
    bool operator==(const SliceBounds&) const = default;
};

/// Return the slice of one rank in an even split whose borders lie between blocks. Other slices work too, but a block
/// of 512 ids that a border cuts is sent to all ranks.
/// @edge   with more ranks than blocks, some ranks have no ids
inline SliceBounds even_slice(Index vocab, Index rank, Index ranks) {
    const Index length = specsample::detail::block_length(vocab);
    const auto border = [&](Index r) {
        return r >= ranks ? vocab : std::min(vocab, (vocab * r / ranks + length / 2) / length * length);
    };
    return {border(rank), border(rank + 1) - border(rank), vocab};
}

namespace detail {

/// Which rank holds which ids.
class Split {
  public:
    /// Return the slices that were assigned last, by rank.
    std::span<const SliceBounds> slices() const { return slices_; }

    /// Take the slices of all ranks.
    /// @returns   the fault if the slices do not follow each other without gap or overlap in one vocabulary
    std::optional<RowFault> assign(std::span<const SliceBounds> slices) {
        slices_.assign(slices.begin(), slices.end());
        const Index vocab = slices_[0].vocab;
        Index next = 0;
        for (std::size_t rank = 0; rank < slices_.size(); ++rank) {
            const SliceBounds& slice = slices_[rank];
            if (slice.vocab != vocab) return fault(Cause::slice_vocabulary, slice.vocab, vocab, rank);
            if (slice.first != next) return fault(Cause::slice_begin, slice.first, next, rank);
            next = slice.end();
        }
        if (next != vocab) return fault(Cause::slice_end, next, vocab, slices_.size() - 1);
        share_out();
        return std::nullopt;
    }

    /// Return the number of ids in a block.
    Index block_length() const { return length_; }
    Index blocks() const { return static_cast<Index>(holders_.size()); }

    /// Return the rank that holds the block of a place; -1 if a border cuts the block, which all ranks then have.
    Index holder(Index place) const { return std::max<Index>(holders_[block_of(place)], -1); }
    /// Return the rank whose slice contains a place.
    Index owner(Index place) const {
        const auto after = std::ranges::upper_bound(slices_, place, {}, &SliceBounds::end);
        return after - slices_.begin();
    }

    /// Return the place of an id in the memory that holds all cut blocks, one after another.
    Index place_in_cut(Index place) const { return (-2 - holders_[block_of(place)]) * length_ + place % length_; }
    /// Return the size of that memory, in ids.
    Index cut_size() const { return static_cast<Index>(cut_.size()) * length_; }
    /// Call f(first, count) for every range of a rank's ids that lies in a cut block.
    template <class F>
    void for_cut(Index rank, F&& f) const {
        const SliceBounds& slice = slices_[static_cast<std::size_t>(rank)];
        for (const Index block : cut_) {
            const Index first = std::max(block * length_, slice.first);
            const Index end = std::min((block + 1) * length_, slice.end());
            if (first < end) f(first, end - first);
        }
    }

  private:
    static RowFault fault(Cause cause, Index value, Index bound, std::size_t rank) {
        return {.cause = cause,
                .value = static_cast<double>(value),
                .bound = static_cast<double>(bound),
                .id = static_cast<Index>(rank)};
    }

    std::size_t block_of(Index place) const { return static_cast<std::size_t>(place / length_); }

    void share_out() {
        const Index vocab = slices_[0].vocab;
        length_ = specsample::detail::block_length(vocab);
        holders_.resize(static_cast<std::size_t>((vocab + length_ - 1) / length_));
        cut_.clear();
        for (std::size_t block = 0; block < holders_.size(); ++block) {
            const Index first = static_cast<Index>(block) * length_, last = std::min(first + length_, vocab) - 1;
            const Index rank = owner(first);
            holders_[block] = rank == owner(last) ? rank : -2 - static_cast<Index>(cut_.size());
            if (holders_[block] < 0) cut_.push_back(static_cast<Index>(block));
        }
    }

    std::vector<SliceBounds> slices_;
    Index length_ = 1;
    std::vector<Index> holders_;  ///< by block: its rank, or -2 - i for the i-th cut block
    std::vector<Index> cut_;      ///< the blocks that borders cut
};

}  // namespace detail

}}}  // namespace specsample::shard

// The split of a vocabulary over ranks: who holds which ids.
//
//   even_slice   a slice for each rank
//
// Sums are made by blocks of ids, as of a row that is held whole, and one rank sums a block that it holds alone. A
// block that a border cuts is sent to all ranks and summed by each, so that every block has the same sum for every
// split.
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

/// A slice for each rank, of about as many ids: the borders lie between blocks. Any other slices will do, but a block
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

/// Who holds which ids.
class Split {
  public:
    /// The slices that were given last, by rank.
    std::span<const SliceBounds> slices() const { return slices_; }

    /// Take the slices of all ranks.
    /// @returns   the fault if they do not lie one after the other, without gap or overlap, in one vocabulary
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

    /// The number of ids in a block.
    Index block_length() const { return length_; }
    Index blocks() const { return static_cast<Index>(holders_.size()); }

    /// The rank that holds the block of a place; -1 if a border cuts the block, so that all ranks have it.
    Index holder(Index place) const { return std::max<Index>(holders_[block_of(place)], -1); }
    /// The rank in whose slice a place is.
    Index owner(Index place) const {
        const auto after = std::ranges::upper_bound(slices_, place, {}, &SliceBounds::end);
        return after - slices_.begin();
    }

    /// The blocks that borders cut, one after the other: the place of an id among their ids.
    Index place_in_cut(Index place) const { return (-2 - holders_[block_of(place)]) * length_ + place % length_; }
    /// The number of ids that fit in these blocks.
    Index cut_size() const { return static_cast<Index>(cut_.size()) * length_; }
    /// Call f(first, count) for the ids of a rank in blocks that are cut.
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
    std::vector<Index> holders_;  ///< by block: the rank; -2 - i for the i-th block that is cut
    std::vector<Index> cut_;      ///< the blocks that are cut
};

}  // namespace detail

}}}  // namespace specsample::shard

// Lists of ids that ranks make of a row, one of all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/kernels/select_top.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/shaping/memory.hpp>
#include <specsample/shard/known_numbers.hpp>

namespace specsample::inline SPECSAMPLE_ABI::shard::detail {

/// What ranks find in a row by listing ids.
template <class Scalar>
class RowLists : public KnownNumbers<Scalar> {
    using Base = KnownNumbers<Scalar>;

  public:
    using Base::vocab;

    /// The answer of the rank that holds the block at `first`.
    template <class Answer>
    double ask_holder(Index first, const Answer& answer) {
        if (split().holder(first) < 0) return answer();
        listed_.clear();
        if (has_block(first)) listed_.push_back({first, answer(), {}});
        exchange_list();
        return fault_ ? nan : all_listed_[0].key;
    }

    /// The places of the largest numbers, as they are encoded in `numbers`; see kernels/top.hpp.
    template <class Encoded, class Place>
    Index largest_places(const Encoded& numbers, std::span<Place> places, double least) {
        const Index found = specsample::detail::largest_places(numbers, bounds_.first, bounds_.end(), places, least);
        listed_.clear();
        for (const Place place : places.first(static_cast<std::size_t>(found)))
            listed_.push_back({static_cast<Index>(place), -numbers[place], mine_[place]});
        return merge_lists(places, {});
    }

    /// Gather the largest numbers and those of some ids, or the whole row: if that is asked for, or a number is bad.
    /// @param most      as many of the largest numbers; the size of the vocabulary or more for the whole row
    /// @param context   the text before, which must be the same on every rank
    /// @param also      ids whose numbers are wanted as well, if they are not -inf
    /// @throws          Fault if the ranks do not agree
    /// @returns         how many numbers there are: all of them stand for every id, fewer for `ids`, which ascend
    template <class Wide>
    Index gather(Index most, std::span<const Token> context, std::span<const Token> also, std::vector<Wide>& numbers,
                 std::vector<Token>& ids) {
        Digest digest;
        for (const Token token : context) digest.add(token);
        if (most < vocab()) {
            list_largest(most, also, numbers, ids);
            exchange_list(digest.value());
            if (!fault_ && !lists_bad()) return write_listed(numbers, ids);
        }
        if (!fault_) exchange(Topic::numbers, digest.value());
        if (fault_) specsample::detail::raise(Fault(*fault_, {}, "shaped"));
        specsample::detail::grow(numbers, whole_.size());
        specsample::detail::copy_blocks(Blocks(Column<Scalar>(whole_.data(), vocab())), numbers.data());
        return vocab();
    }

  protected:
    using Base::bounds_, Base::fault_, Base::mine_;
    using Base::exchange, Base::has_block, Base::remember, Base::split;
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

    /// A race with several winners; see RowState.
    template <class Noise>
    Index race_for_several(Noise&& noise, std::span<Token> winners, std::span<double> arrivals) {
        const Index arrived = mine_.race(noise, winners, arrivals);
        listed_.clear();
        if (arrived < 0) listed_.emplace_back();
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::max<Index>(arrived, 0)); ++i)
            listed_.push_back({winners[i], arrivals[i], mine_[winners[i]]});
        return merge_lists(winners, arrivals);
    }

    void write_list(Writer& out) const {
        out.put(std::ssize(listed_));
        out.put_bytes(std::as_bytes(std::span(listed_)));
    }
    void read_list(Reader& in) {
        const auto known = all_listed_.size(), more = static_cast<std::size_t>(in.take<std::ptrdiff_t>());
        all_listed_.resize(known + more);
        in.take_bytes(std::as_writable_bytes(std::span(all_listed_).subspan(known)));
    }
    void write_numbers(Writer& out) const {
        out.put_bytes(std::as_bytes(std::span(mine_.from(bounds_.first), static_cast<std::size_t>(bounds_.count))));
    }
    void read_numbers(Index rank, Reader& in) {
        const SliceBounds& slice = split().slices()[static_cast<std::size_t>(rank)];
        whole_.resize(static_cast<std::size_t>(vocab()));
        in.take_bytes(std::as_writable_bytes(
            std::span(whole_).subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.count))));
    }

  private:
    void exchange_list(std::uint64_t key = 0) {
        all_listed_.clear();
        if (!fault_) exchange(Topic::list, key);
    }
    bool lists_bad() const {
        return std::ranges::any_of(all_listed_, [](const auto& one) { return one.id < 0; });
    }

    /// List the largest numbers of this rank and those of some ids, in the order of ids.
    template <class Wide>
    void list_largest(Index most, std::span<const Token> also, std::vector<Wide>& numbers, std::vector<Token>& ids) {
        listed_.clear();
        specsample::detail::grow(numbers, static_cast<std::size_t>(bounds_.count));
        specsample::detail::copy_blocks(mine_.blocks(), numbers.data());
        const std::span<const Wide> mine = std::span(numbers).first(static_cast<std::size_t>(bounds_.count));
        if (mine_.largest_id().found == Best::Found::bad) {
            listed_.emplace_back();
            return;
        }
        // Those whose logits may change are no largest ones.
        Index mine_also = 0;
        for (const Token id : also) mine_also += mine_.has(id);
        kernels::SelectionScratch<Wide> scratch;
        kernels::select_top(mine, most + mine_also, -std::numeric_limits<Wide>::infinity(), ids, scratch);
        for (Token& id : ids) id += static_cast<Token>(bounds_.first);
        for (const Token id : also)
            if (mine_.has(id) && specsample::detail::is_finite(static_cast<double>(mine_[id]))) ids.push_back(id);
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        for (const Token id : ids) listed_.push_back({id, 0, mine_[id]});
    }

    template <class Wide>
    Index write_listed(std::vector<Wide>& numbers, std::vector<Token>& ids) const {
        specsample::detail::grow(numbers, all_listed_.size());
        specsample::detail::grow(ids, all_listed_.size());
        for (std::size_t i = 0; i < all_listed_.size(); ++i) {
            numbers[i] = static_cast<Wide>(all_listed_[i].number);
            ids[i] = static_cast<Token>(all_listed_[i].id);
        }
        return std::ssize(all_listed_);
    }

    /// Exchange what ranks have listed, and write the first of all ids.
    template <class Place>
    Index merge_lists(std::span<Place> ids, std::span<double> keys) {
        exchange_list();
        if (fault_ || lists_bad()) return -1;
        std::ranges::sort(
            all_listed_, [](const auto& a, const auto& b) { return a.key < b.key || (a.key == b.key && a.id < b.id); });
        const std::size_t count = std::min(ids.size(), all_listed_.size());
        for (std::size_t i = 0; i < count; ++i) {
            ids[i] = static_cast<Place>(all_listed_[i].id);
            if (!keys.empty()) keys[i] = all_listed_[i].key;
            remember(all_listed_[i].id, all_listed_[i].number);
        }
        return static_cast<Index>(count);
    }

    std::vector<Listed<Scalar>> listed_, all_listed_;  ///< by this rank; by all ranks, in their order
    std::vector<Scalar> whole_;
};

}  // namespace specsample::inline SPECSAMPLE_ABI::shard::detail

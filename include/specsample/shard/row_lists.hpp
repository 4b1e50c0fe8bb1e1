// Lists of ids: every rank lists ids of its slice, and the lists are merged into one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <specsample/core/fault.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/kernels/select_top.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/shaping/memory.hpp>
#include <specsample/shaping/outlook.hpp>
#include <specsample/shard/known_numbers.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard::detail {

/// Results that the ranks find by listing ids of a split row.
template <class Scalar>
class RowLists : public KnownNumbers<Scalar> {
    using Base = KnownNumbers<Scalar>;

  public:
    using Base::vocab;

    /// Return the answer of the rank that holds the block at `first`.
    template <class Answer>
    double ask_holder(Index first, const Answer& answer) {
        const auto own = [&] { return ranks_->alone(answer); };
        if (split().holder(first) < 0) return own();
        listed_.clear();
        if (has_block(first)) listed_.push_back({first, own(), {}});
        exchange_list();
        return fault_ ? nan : all_listed_[0].key;
    }

    /// Find the places of the largest of `numbers`, the row in an encoding; see kernels/top.hpp.
    template <class Encoded, class Place>
    Index largest_places(const Encoded& numbers, std::span<Place> places, double least) {
        listed_.clear();
        ranks_->alone([&] {
            const Index found =
                specsample::detail::largest_places(numbers, bounds_.first, bounds_.end(), places, least);
            for (const Place place : places.first(static_cast<std::size_t>(found)))
                listed_.push_back({static_cast<Index>(place), -numbers[place], mine_[place]});
        });
        return std::max<Index>(merge_lists(places, {}), 0);
    }

    /// Numbers that every rank holds.
    struct Gathered {
        Index count;                  ///< the vocabulary size, or fewer: then they have ascending ids
        std::optional<double> total;  ///< the sum of the weights of the whole row, if it was found
    };

    /// Gather all numbers.
    /// @param context   the text before the row; must be equal on all ranks
    /// @throws          Fault if the ranks disagree
    template <class Wide>
    Gathered gather_all(std::span<const Token> context, std::vector<Wide>& numbers) {
        Base::gather_whole(digest_of(context));
        raise_fault();
        specsample::detail::grow(numbers, static_cast<std::size_t>(vocab()));
        specsample::detail::copy_blocks(Blocks(Base::whole()), numbers.data());
        return {vocab(), {}};
    }

  protected:
    using Base::bounds_, Base::fault_, Base::mine_, Base::ranks_;
    using Base::exchange, Base::has_block, Base::remember, Base::split;
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    static constexpr double nothing = -std::numeric_limits<double>::infinity();

    static std::uint64_t digest_of(std::span<const Token> context) {
        Digest digest;
        digest.add(context.size());
        for (const Token token : context.last(std::min<std::size_t>(context.size(), 64))) digest.add(token);
        return digest.value();
    }
    void raise_fault() const {
        if (fault_) specsample::detail::raise(Fault(*fault_, {}, "shaped"));
    }

    /// Gather the largest numbers, up to a count or a distance from the largest, and the numbers that the pipeline
    /// changes.
    /// @param key    a digest of everything that must be equal on all ranks
    /// @returns      how many `numbers` and ascending `ids` there are; -1 if a number is bad
    template <class Wide>
    Index gather_reached(const filters::Reach& reach, std::span<const Token> changed, std::uint64_t key,
                         std::vector<Wide>& numbers, std::vector<Token>& ids) {
        find_changed(changed);
        const std::span<const Wide> mine = copy_mine(numbers);
        if (reach.most < vocab()) {
            // The pipeline may lower the numbers that it changes, so as many more are listed.
            const Index most = reach.most + std::ssize(changed_);
            kernels::select_top(mine, most, -std::numeric_limits<Wide>::infinity(), ids, scratch_);
        } else {
            // The largest number of all is no smaller than the largest unchanged one, and rounding is monotone, so no
            // number within the distance is left out.
            const double least = largest_unchanged(mine, {}, key) - reach.distance;
            kernels::select_at_least(mine, static_cast<Wide>(least), ids);
        }
        ids.insert(ids.end(), changed_.begin(), changed_.end());
        keep_unique(ids);
        return exchange_ids(ids, has_bad(), key) ? write_listed(numbers, ids) : -1;
    }

    /// Copy this rank's numbers.
    template <class Wide>
    std::span<const Wide> copy_mine(std::vector<Wide>& numbers) const {
        specsample::detail::grow(numbers, static_cast<std::size_t>(bounds_.count));
        specsample::detail::copy_blocks(mine_.blocks(), numbers.data());
        return std::span(numbers).first(static_cast<std::size_t>(bounds_.count));
    }

    /// Race for several winners; see RowState.
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

    /// Exchange some ids of this rank, counted from its first id, with their numbers; if `is_bad`, a mark instead of
    /// them.
    /// @returns   true if every rank listed ids instead of a mark
    bool exchange_ids(std::span<const Token> ids, bool is_bad, std::uint64_t key) {
        listed_.clear();
        if (is_bad) {
            listed_.emplace_back();
        } else {
            for (const Token id : ids) list(id, 0);
        }
        exchange_list(key);
        return !fault_ && !has_bad_list();
    }
    bool has_bad() const { return mine_.largest_id().found == Best::Found::bad; }

    /// Find the ids that lie in this rank's slice and are possible.
    void find_changed(std::span<const Token> ids) {
        changed_.clear();
        for (const Token id : ids)
            if (mine_.has(id) && specsample::detail::is_finite(static_cast<double>(mine_[id])))
                changed_.push_back(id - static_cast<Token>(bounds_.first));
        keep_unique(changed_);
    }

    /// Return the ids that find_changed found, counted from this rank's first id.
    std::span<const Token> changed() const { return changed_; }

    /// Find the largest number of all ranks among the ids that do not change.
    /// @param listed   ids of this rank, counted from its first id; afterwards all_listed_ has such ids of all ranks
    template <class Wide>
    double largest_unchanged(std::span<const Wide> mine, std::span<const Token> listed, std::uint64_t key) {
        constexpr Wide lowest = -std::numeric_limits<Wide>::infinity();
        Wide largest = lowest;
        Token best = -1;
        for (Token id = 0; id < static_cast<Token>(mine.size()); ++id)
            if (mine[static_cast<std::size_t>(id)] > largest && !std::ranges::binary_search(changed_, id))
                largest = mine[static_cast<std::size_t>(best = id)];
        listed_.clear();
        for (const Token id : listed) list(id, nothing);
        if (best >= 0) list(best, static_cast<double>(largest));
        exchange_list(key);
        double all = nothing;
        for (const auto& one : all_listed_) all = std::max(all, one.key);
        std::erase_if(all_listed_, [](const auto& one) { return one.key > nothing; });
        return all;
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

  private:
    void exchange_list(std::uint64_t key = 0) {
        all_listed_.clear();
        if (!fault_) exchange(Topic::list, key);
    }
    bool has_bad_list() const {
        return std::ranges::any_of(all_listed_, [](const auto& one) { return one.id < 0; });
    }
    /// List an id of this rank, counted from its first id.
    void list(Token id, double key) { listed_.push_back({bounds_.first + id, key, mine_[bounds_.first + id]}); }

    static void keep_unique(std::vector<Token>& ids) {
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    }

    /// Exchange the lists of all ranks, and write the ids that come first in the merged list.
    template <class Place>
    Index merge_lists(std::span<Place> ids, std::span<double> keys) {
        exchange_list();
        if (fault_ || has_bad_list()) return -1;
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

    std::vector<Listed<Scalar>> listed_, all_listed_;  ///< this rank's list; the lists of all ranks, rank by rank
    std::vector<Token> changed_;                       ///< ids whose logits change, counted from this rank's first id
    kernels::SelectionScratch<Compute<Scalar>> scratch_;
};

}}}  // namespace specsample::shard::detail

// Ranks: the group of ranks that share rows, and the exchanges between them.
//
//   Ranks       made once per rank from its communicator; every Sharded row borrows it
//   Traffic     the number of exchanges, and their bytes
//
// All ranks make the same calls in the same order. When one rank needs a number of a row, every rank needs it at the
// same point of the code, so one exchange serves all ranks. An exchange can cover many rows: each round begins with one
// exchange for all of its rows.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/shard/communicator.hpp>
#include <specsample/shard/split.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// Counts what a rank has exchanged with the others.
struct Traffic {
    Index exchanges = 0;  ///< calls of all_gather; the very first sends the bounds of slices only
    Index sent = 0;       ///< bytes of this rank's own messages, each counted once
    Index received = 0;   ///< bytes of the other ranks' messages
};

class Ranks;

namespace detail {

/// A hash of numbers: ranks that add the same numbers get the same value, other ranks almost surely another one.
/// @source   Fowler, Noll, Vo: FNV-1a, 64 bits
class Digest {
  public:
    template <class T>
    Digest& add(const T& value) {
        for (const std::byte byte : std::as_bytes(std::span(&value, 1)))
            hash_ = (hash_ ^ static_cast<std::uint64_t>(byte)) * 0x100'0000'01b3;
        return *this;
    }
    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325;
};

/// The subject of an exchange: which facts about a row the ranks send.
enum class Topic : std::uint32_t {
    open,     ///< the blocks that borders cut, the entries of drafted tokens, and everything in Wants
    sums,     ///< the sums of blocks
    largest,  ///< the largest number of the row
    pick,     ///< the place that a draw has picked
    nearest,  ///< the nearest place of positive weight, after a draw that rounding took too far
    odd,      ///< what is wrong with the row
    list,     ///< ids that each rank has chosen, with their numbers
    numbers   ///< the slices themselves
};

/// The interface through which an exchange reads and fills a row.
class RankRow {
  public:
    virtual ~RankRow() = default;

    virtual Ranks& ranks() const = 0;
    virtual SliceBounds bounds() const = 0;
    /// Return the disagreement that the ranks found about this row, if any.
    virtual const std::optional<RowFault>& fault() const = 0;
    /// Return a digest of what the next exchange must deliver; the ranks compare it.
    virtual std::uint64_t wish() const = 0;
    /// Write this rank's part, read the part of each rank, then combine all parts.
    virtual void write(Topic topic, Writer& out) = 0;
    virtual void read(Topic topic, Index rank, Reader& in) = 0;
    virtual void finish(Topic topic) = 0;
    /// Mark the row as bad from now on, because the ranks disagree about it.
    virtual void fail(const RowFault& fault) = 0;
};

/// Checks the argument of Ranks, with one sentence per error.
template <class C>
struct RanksArguments {
    static constexpr bool all = Communicator<C>;
    static_assert(all,
                  "specsample::shard::Ranks: the argument must be a communicator, an object with rank(), size() and "
                  "all_gather(mine, all); write one as shard/communicator.hpp says, or take shard::Thread or "
                  "shard::OneRank");
};

}  // namespace detail

/// The ranks that share rows: every exchange between them goes through this object.
class Ranks {
  public:
    /// @param communicator   a Communicator, borrowed
    template <class C>
        requires(!std::same_as<std::remove_const_t<C>, Ranks> && detail::RanksArguments<C>::all)
    explicit Ranks(C& communicator)
        : rank_(static_cast<Index>(communicator.rank())),
          inbox_(static_cast<std::size_t>(communicator.size())),
          all_gather_([&communicator](std::span<const std::byte> mine, std::span<Message> all) {
              communicator.all_gather(mine, all);
          }) {}

    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    Index rank() const { return rank_; }
    Index size() const { return std::ssize(inbox_); }
    /// Return the counts of all exchanges since construction.
    const Traffic& traffic() const { return traffic_; }

    /// Return which rank holds which ids; known after the first exchange.
    const detail::Split& split() const { return split_; }

    /// Exchange what these rows want. If the ranks disagree, the rows are bad afterwards, with the same fault on every
    /// rank.
    /// @param key   any number that must be the same on every rank
    void exchange(detail::Topic topic, std::span<detail::RankRow* const> rows, std::uint64_t key = 0) {
        if (rows.empty()) return;
        const bool knew_split = knows_split_;
        gather(topic, rows, key);
        if (const auto bad = disagreement()) {
            for (detail::RankRow* row : rows) row->fail(*bad);
        } else if (!knew_split) {  // the first time, only headers were sent
            exchange(topic, rows, key);
        } else {
            read(topic, rows);
        }
    }

    /// Call draws(), during which every row finds this rank's part of a draw and makes no exchange for it.
    template <class Draws>
    void collect(const Draws& draws) {
        const Marked marked(collects_);
        draws();
    }
    bool collects() const { return collects_; }

    /// Call work(), during which this rank reads only numbers that it holds; other ranks may read more or fewer.
    /// Outside of work(), all ranks read the same numbers, so that they can exchange a missing one.
    template <class Work>
    decltype(auto) alone(const Work& work) {
        const Marked marked(is_alone_);
        return work();
    }
    bool is_alone() const { return is_alone_; }

    /// Begin a round. Every exchange compares the digest, so ranks that are in different rounds find the difference at
    /// their next exchange, whatever its topic.
    /// @param digest   a digest of everything that must be equal on all ranks in the round
    void begin_round(std::uint64_t digest) { round_ = digest; }

    /// Return an empty list of rows, in memory that is used again.
    std::vector<detail::RankRow*>& list() {
        list_.clear();
        return list_;
    }

    /// Return memory for the state of one row. It is used again once no row refers to it.
    template <class State>
    std::shared_ptr<State> state() {
        for (std::size_t i = 0; i < states_.size(); ++i) {
            next_ = (next_ + 1) % states_.size();
            if (states_[next_].use_count() > 1) continue;
            if (auto found = std::dynamic_pointer_cast<State>(states_[next_])) return found;
        }
        auto made = std::make_shared<State>();
        states_.push_back(made);
        return made;
    }

  private:
    /// Sets a mark until its scope ends, also by an exception.
    class Marked {
      public:
        explicit Marked(bool& mark) : mark_(mark), before_(std::exchange(mark, true)) {}
        ~Marked() { mark_ = before_; }
        Marked(const Marked&) = delete;

      private:
        bool& mark_;
        bool before_;
    };

    struct Header {
        detail::Topic topic{};
        std::uint32_t rows = 0;
        std::uint64_t key = 0;
        SliceBounds slice{};
    };

    void gather(detail::Topic topic, std::span<detail::RankRow* const> rows, std::uint64_t key) {
        Header header{.topic = topic, .rows = static_cast<std::uint32_t>(rows.size()), .slice = rows[0]->bounds()};
        detail::Digest digest;
        digest.add(key).add(round_);
        bool as_before = knows_split_;
        for (const detail::RankRow* row : rows) {
            digest.add(row->wish());
            if (!knows_split_ || row->bounds() == my_slice()) continue;
            header.slice = row->bounds();
            as_before = false;
        }
        header.key = digest.value();
        detail::Writer out(outbox_);
        out.put(header);
        if (as_before)
            for (detail::RankRow* row : rows) row->write(topic, out);
        all_gather_(outbox_, inbox_);
        ++traffic_.exchanges;
        traffic_.sent += std::ssize(outbox_);
        for (std::size_t other = 0; other < inbox_.size(); ++other)
            if (static_cast<Index>(other) != rank_) traffic_.received += std::ssize(inbox_[other]);
    }

    const SliceBounds& my_slice() const { return split_.slices()[static_cast<std::size_t>(rank_)]; }

    /// Compare all ranks' headers and return the first mismatch. Every rank finds the same one, because it has all
    /// headers.
    std::optional<RowFault> disagreement() {
        slices_.clear();
        std::optional<RowFault> differs;
        const auto first = detail::Reader(inbox_[0]).take<Header>();
        for (std::size_t rank = 0; rank < inbox_.size(); ++rank) {
            const auto header = detail::Reader(inbox_[rank]).take<Header>();
            slices_.push_back(header.slice);
            const bool same = header.topic == first.topic && header.rows == first.rows && header.key == first.key;
            if (!same && !differs) differs = RowFault{.cause = Cause::ranks_differ, .id = static_cast<Index>(rank)};
        }
        if (knows_split_ && std::ranges::equal(slices_, split_.slices())) return differs;
        detail::Split split;
        if (auto bad = split.assign(slices_)) return bad;
        // A split that is consistent in itself may still differ from the split that earlier rows were read with.
        if (knows_split_) return differs ? differs : changed();
        if (differs) return differs;
        split_ = std::move(split);
        knows_split_ = true;
        return std::nullopt;
    }

    /// Return the fault of the first rank whose slice has changed.
    RowFault changed() const {
        const auto [now, before] = std::ranges::mismatch(slices_, split_.slices());
        const Index rank = now - slices_.begin();
        if (now->vocab != before->vocab) return fault(Cause::slice_vocabulary, now->vocab, before->vocab, rank);
        if (now->first != before->first) return fault(Cause::slice_begin, now->first, before->first, rank);
        return fault(Cause::slice_end, now->end(), before->end(), rank);
    }
    static RowFault fault(Cause cause, Index value, Index bound, Index rank) {
        return {.cause = cause, .value = static_cast<double>(value), .bound = static_cast<double>(bound), .id = rank};
    }

    void read(detail::Topic topic, std::span<detail::RankRow* const> rows) {
        for (std::size_t rank = 0; rank < inbox_.size(); ++rank) {
            detail::Reader in(inbox_[rank]);
            in.take<Header>();
            for (detail::RankRow* row : rows) row->read(topic, static_cast<Index>(rank), in);
        }
        for (detail::RankRow* row : rows) row->finish(topic);
    }

    Index rank_;
    Message outbox_;
    std::vector<Message> inbox_;
    std::function<void(std::span<const std::byte>, std::span<Message>)> all_gather_;
    Traffic traffic_;
    detail::Split split_;
    bool knows_split_ = false;
    bool collects_ = false;
    bool is_alone_ = false;
    std::uint64_t round_ = 0;  ///< the digest of the round
    std::vector<SliceBounds> slices_;
    std::vector<std::shared_ptr<detail::RankRow>> states_;
    std::size_t next_ = 0;
    std::vector<detail::RankRow*> list_;
};

}}}  // namespace specsample::shard

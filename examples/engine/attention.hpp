#pragma once

// Attention over the slots of a paged cache.

#include <memory>
#include <span>
#include <utility>

#include "engine/history.hpp"
#include "engine/layers.hpp"
#include "engine/pages.hpp"

namespace engine {

class Attention {
  public:
    explicit Attention(std::shared_ptr<PagePool> pool) : pages_(std::move(pool)) {}

    const PagePool& pool() const { return pages_.pool(); }

    /// Holds `slots` slots. Throws std::runtime_error, changing nothing, if the pool has too few pages.
    void resize(Index slots) { pages_.resize(slots); }

    /// Stores a slot's key and its value in a head of a layer. Calls for different heads may be concurrent.
    void write_key(Index layer, Index head, Index slot, const float* key);
    void write_value(Index layer, Index head, Index slot, const float* value);

    /// Memory for `attend`, of any size at first; concurrent calls need one each.
    struct Room {
        RowMatrix queries;
        RowMatrix scores;
        RowMatrix results;
    };

    /// Computes the attention of those queries that share key head `head`, for the slots from `first` on; `visible`,
    /// `queries` and `out` have an entry or a whole row for each. The keys and values are read once for all of them.
    /// The bits of a slot's result do not depend on what else is in the cache, nor on the other slots: they are those
    /// of a contiguous cache of the visible slots.
    void attend(Index layer, Index head, Index first, std::span<const History::Visible> visible,
                const ConstRows& queries, Rows out, Room& room) const;

    /// A state of a slot (pages.hpp): as wide as the model.
    Vector state(Index slot, Index which = states_per_position - 1);

    /// Moves the data of slot path[i] to slot i. The path ascends, so nothing is overwritten that is still needed.
    void compact(std::span<const Index> path);

  private:
    void make_room(Room& room, Index rows, Index slots) const;
    void move(Index from, Index to);

    PageTable pages_;
};

}  // namespace engine

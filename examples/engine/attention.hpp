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

    /// Stores a slot's keys and values in a layer; the heads follow each other.
    void write(Index layer, Index slot, const float* keys, const float* values);

    /// Computes the attention of those queries of `slot` that share key head `head` over the visible slots. `queries`
    /// and `out` are the slot's whole rows. The bits of the result do not depend on what else is in the cache: they are
    /// those of a contiguous cache of the visible slots.
    ///
    /// `scores` is memory for the scores, of any size at first; concurrent calls need one each.
    void attend(Index layer, Index slot, Index head, const History::Visible& visible, const float* queries, float* out,
                RowMatrix& scores) const;

    /// The model's final state of a slot: a row as wide as the model.
    Vector state(Index slot);

    /// Moves the data of slot path[i] to slot i. The path ascends, so nothing is overwritten that is still needed.
    void compact(std::span<const Index> path);

  private:
    void move(Index from, Index to);

    PageTable pages_;
};

}  // namespace engine

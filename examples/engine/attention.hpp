#pragma once

// Attention over the slots of a cache, wherever its pages are.

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

    /// Stores a slot's keys and values in a layer, all heads behind each other.
    void write(Index layer, Index slot, const float* keys, const float* values);

    /// Lets the queries of `slot` attend to what it sees. Whatever else is in the cache leaves no trace in the bits:
    /// they are those of a cache that holds what is seen, one behind the other.
    ///
    /// `scores` is room for the scores, of any size at first: calls at the same time need one each.
    void attend(Index layer, Index slot, const History::Visible& visible, const float* queries, float* out,
                RowMatrix& scores) const;

    /// What the model made of a slot in the end: a row as wide as the model.
    Vector state(Index slot);

    /// Moves all of slot path[i] to slot i, along a path that ascends: nothing is overwritten that is still needed.
    void compact(std::span<const Index> path);

  private:
    void move(Index from, Index to);

    PageTable pages_;
};

}  // namespace engine

#pragma once

// Memory for a model's cache: the keys, values and states of the positions it was fed.
//
// * PagePool    pages of a fixed number of positions, for all caches that share it
// * PageTable   the pages of one cache, in order: slot s is in page s / positions of the table
//
// A pool whose pages hold a whole context makes caches contiguous; one of small pages lets many texts share memory, and
// frees the memory of a rejected draft at once. Nothing else differs: a position has the same bits in both. A pool has
// no lock, so caches that share one must not be used at the same time.

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/kernel.hpp"

namespace engine {

/// Row stride, in floats, that keeps every row of a buffer aligned and padded to whole int8 words.
constexpr Index aligned_width(Index width) { return round_up(width, 16); }

/// State s of a position is its residual stream after (s + 1) / 3 of the model's layers; the last one is normalised,
/// and the classifier's input. Drafters read all three.
constexpr Index states_per_position = 3;

struct CacheShape {
    Index layers;
    Index heads;
    Index kv_heads;
    Index head_size;

    Index dim() const { return heads * head_size; }
    Index state_columns() const { return states_per_position * aligned_width(dim()); }
    bool operator==(const CacheShape&) const = default;
};

/// One page. The keys of a layer's head are a matrix of positions x head size, its values one of head size x positions,
/// both laid out for `multiply`; the states of a position are a row.
struct Page {
    RowMatrix keys;    // one row per layer and head
    RowMatrix values;  // likewise
    RowMatrix states;  // one row per position, of width state_columns()
};

class PagePool {
  public:
    static constexpr Index unlimited = std::numeric_limits<Index>::max();

    /// Throws std::invalid_argument unless there is at least one position per page, and one page.
    PagePool(const CacheShape& shape, Index positions, Index pages = unlimited);

    /// The size of a page in bytes; a double, because a file may claim any shape.
    static double bytes(const CacheShape& shape, Index positions);

    const CacheShape& shape() const { return shape_; }
    Index positions() const { return positions_; }  ///< per page
    Index in_use() const { return in_use_; }        ///< pages that caches hold
    Index available() const { return pages_ - in_use_; }

    /// A page with arbitrary but finite contents. One must be available.
    std::unique_ptr<Page> take();
    void give_back(std::unique_ptr<Page> page);

  private:
    CacheShape shape_;
    Index positions_;
    Index pages_;
    Index in_use_ = 0;
    std::vector<std::unique_ptr<Page>> free_;  // used before
};

class PageTable {
  public:
    explicit PageTable(std::shared_ptr<PagePool> pool) : pool_(std::move(pool)) {}
    PageTable(const PageTable& other);
    PageTable(PageTable&&) = default;
    PageTable& operator=(PageTable other) noexcept;
    ~PageTable();

    const PagePool& pool() const { return *pool_; }
    Index positions() const { return pool_->positions(); }  ///< per page

    /// Holds the pages for `slots` slots. Throws std::runtime_error, changing nothing, if the pool has too few.
    void resize(Index slots);

    Page& of(Index slot) { return *pages_[static_cast<std::size_t>(slot / positions())]; }
    const Page& of(Index slot) const { return *pages_[static_cast<std::size_t>(slot / positions())]; }

  private:
    std::shared_ptr<PagePool> pool_;
    std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace engine

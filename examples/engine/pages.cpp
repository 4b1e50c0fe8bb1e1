#include "engine/pages.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace engine {

PagePool::PagePool(const CacheShape& shape, Index positions, Index pages)
    : shape_(shape), positions_(positions), pages_(pages) {
    const auto require = [](const char* what, Index value) {
        if (value < 1) {
            throw std::invalid_argument(std::string("PagePool: ") + what + " is " + std::to_string(value) +
                                        ", but must be at least 1");
        }
    };
    require("the number of positions", positions);
    require("the number of pages", pages);
}

double PagePool::bytes(const CacheShape& shape, Index positions) {
    const auto number = [](Index value) { return static_cast<double>(value); };
    const double keys = number(round_up(positions, panel_rows)) * number(shape.head_size);
    const double values = number(round_up(shape.head_size, panel_rows)) * number(positions);
    const double states = number(positions) * number(shape.state_columns());
    return sizeof(float) * (number(shape.layers) * number(shape.kv_heads) * (keys + values) + states);
}

std::unique_ptr<Page> PagePool::take() {
    ++in_use_;
    if (!free_.empty()) {
        auto page = std::move(free_.back());
        free_.pop_back();
        return page;
    }
    const Index rows = shape_.layers * shape_.kv_heads;
    return std::make_unique<Page>(Page{RowMatrix::Zero(rows, round_up(positions_, panel_rows) * shape_.head_size),
                                       RowMatrix::Zero(rows, round_up(shape_.head_size, panel_rows) * positions_),
                                       RowMatrix::Zero(positions_, shape_.state_columns())});
}

void PagePool::give_back(std::unique_ptr<Page> page) {
    free_.push_back(std::move(page));
    --in_use_;
}

PageTable::PageTable(const PageTable& other) : PageTable(other.pool_) {
    resize(std::ssize(other.pages_) * positions());
    for (std::size_t i = 0; i < pages_.size(); ++i) *pages_[i] = *other.pages_[i];
}

PageTable& PageTable::operator=(PageTable other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(pages_, other.pages_);
    return *this;
}

PageTable::~PageTable() {
    if (pool_) resize(0);  // a table that was moved from has no pool
}

void PageTable::resize(Index slots) {
    const Index needed = divide_up(slots, positions());
    const Index more = needed - std::ssize(pages_);
    if (more > pool_->available()) {
        throw std::runtime_error("the cache needs " + std::to_string(more) + " more pages of " +
                                 std::to_string(positions()) + " positions, but the pool has " +
                                 std::to_string(pool_->available()) + " left");
    }
    while (std::ssize(pages_) < needed) pages_.push_back(pool_->take());
    for (; std::ssize(pages_) > needed; pages_.pop_back()) pool_->give_back(std::move(pages_.back()));
}

}  // namespace engine

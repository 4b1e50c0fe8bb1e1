#pragma once

// Memory for arrays that live as long as the longest of them, side by side in huge pages where the system has them: a
// pass reads all weights, and with pages of 4 KiB the processor looks up where they are as often as it reads them.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace engine {

/// Pages of 2 MiB for large blocks: asked for, so that a system without them gives its usual ones.
class HugePages : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

class Arena : public std::enable_shared_from_this<Arena> {
  public:
    /// `bytes`: the size of the first block; the next ones grow.
    explicit Arena(std::size_t bytes) : blocks_(bytes, &pages_) {}

    /// An array of zeros, which keeps the arena.
    template <class T>
    std::shared_ptr<T[]> take(std::size_t count) {
        auto* first = static_cast<T*>(blocks_.allocate(count * sizeof(T), cache_line));
        std::uninitialized_value_construct_n(first, count);
        return {shared_from_this(), first};
    }

  private:
    static constexpr std::size_t cache_line = 64;

    HugePages pages_;
    std::pmr::monotonic_buffer_resource blocks_;
};

}  // namespace engine

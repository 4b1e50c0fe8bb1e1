#include "engine/arena.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace engine {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::align_val_t aligned(std::size_t bytes, std::size_t alignment) {
    return std::align_val_t(bytes < huge_page ? alignment : huge_page);
}

}  // namespace

void* HugePages::do_allocate(std::size_t bytes, std::size_t alignment) {
    void* block = ::operator new(bytes, aligned(bytes, alignment));
#if defined(__linux__)
    if (bytes >= huge_page) madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // refused: usual pages
#endif
    return block;
}

void HugePages::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    ::operator delete(block, aligned(bytes, alignment));
}

}  // namespace engine

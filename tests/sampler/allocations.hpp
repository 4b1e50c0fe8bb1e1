// Counts the allocations of every thread. Included by one file of a program, since it replaces what allocates.
#pragma once

#include <cstdlib>
#include <new>

/// Of this thread, so far.
static thread_local volatile long allocations =
    0;  // volatile: g++ 16 takes for granted that allocating changes nothing
static thread_local volatile std::size_t allocated_bytes = 0;
/// The size of the allocations that are counted by themselves, and their number.
static thread_local volatile std::size_t watched_size = 0;
static thread_local volatile long watched = 0;

static void count_allocation(std::size_t size) noexcept {
    allocations = allocations + 1;
    allocated_bytes = allocated_bytes + size;
    if (size == watched_size) watched = watched + 1;
}

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
// Eigen calls malloc, not operator new, so malloc is counted.
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) noexcept {
    count_allocation(size);
    return __libc_malloc(size);
}
#else
void* operator new(std::size_t size) {
    count_allocation(size);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    count_allocation(size);
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

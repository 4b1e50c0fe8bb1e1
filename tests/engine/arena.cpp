// Memory of weights.
#include "engine/arena.hpp"

#include <algorithm>
#include <cstdint>

#include "support/catch.hpp"

using namespace engine;

TEST_CASE("arena: arrays are zeros, begin on cache lines, do not overlap, and outlive the arena's owner") {
    auto arena = std::make_shared<Arena>(1000);
    const auto bytes = arena->take<std::uint8_t>(3);
    const auto words = arena->take<std::uint32_t>(5000);  // more than the first block has
    const auto last = arena->take<std::uint8_t>(100);
    arena.reset();
    for (const void* array : {static_cast<void*>(bytes.get()), static_cast<void*>(words.get())})
        CHECK(reinterpret_cast<std::uintptr_t>(array) % 64 == 0);
    CHECK(std::all_of(words.get(), words.get() + 5000, [](std::uint32_t word) { return word == 0; }));
    std::fill_n(bytes.get(), 3, std::uint8_t{1});
    std::fill_n(words.get(), 5000, std::uint32_t{0x02020202});
    std::fill_n(last.get(), 100, std::uint8_t{3});
    CHECK(std::all_of(bytes.get(), bytes.get() + 3, [](int byte) { return byte == 1; }));
    CHECK(std::all_of(words.get(), words.get() + 5000, [](std::uint32_t word) { return word == 0x02020202; }));
}

TEST_CASE("arena: large blocks begin on huge pages") {
    constexpr std::size_t huge = std::size_t{2} << 20;
    const auto arena = std::make_shared<Arena>(3 * huge);
    const auto first = arena->take<std::uint8_t>(2 * huge);
    CHECK(reinterpret_cast<std::uintptr_t>(first.get()) % huge == 0);
    first[2 * huge - 1] = 1;
}

// Philox4x32-10 beyond the test vectors in its header.
#include <specsample/random/philox.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

/// The paper's figure 3 in another way: 16-bit halves multiplied by hand, one word after another.
detail::PhiloxCounter by_hand(detail::PhiloxCounter x, detail::PhiloxKey k) {
    const auto multiply = [](std::uint32_t a, std::uint32_t b, std::uint32_t& high) {
        const std::uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
        const std::uint32_t low = a0 * b0, middle = a1 * b0 + (low >> 16), other = a0 * b1 + (middle & 0xffff);
        high = a1 * b1 + (middle >> 16) + (other >> 16);
        return a * b;
    };
    for (int round = 0; round < 10; ++round) {
        std::uint32_t high0 = 0, high1 = 0;
        const std::uint32_t low0 = multiply(0xD2511F53, x[0], high0), low1 = multiply(0xCD9E8D57, x[2], high1);
        const std::uint32_t next0 = high1 ^ x[1] ^ k[0], next2 = high0 ^ x[3] ^ k[1];
        x = {next0, low1, next2, low0};
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
    return x;
}

}  // namespace

TEST_CASE("the 10000th number of the standard's philox4x32 is the published one", "[random]") {
    // C++26 [rand.predef]: the 10000th invocation of a default-constructed philox4x32 (seed 20111115) is 1955073260.
    CHECK(detail::philox4x32({2499, 0, 0, 0}, {20111115, 0})[3] == 1955073260u);
}

TEST_CASE("ten rounds agree with an implementation in 16-bit halves", "[random]") {
    detail::PhiloxCounter counter{1, 2, 3, 4};
    detail::PhiloxKey key{5, 6};
    for (int i = 0; i < 1000; ++i) {
        const detail::PhiloxCounter block = detail::philox4x32(counter, key);
        REQUIRE(block == by_hand(counter, key));
        counter = block;
        key = {block[3], block[1] + static_cast<std::uint32_t>(i)};
    }
}

TEST_CASE("one bit of the counter or the key changes about half of the block", "[random]") {
    const detail::PhiloxCounter counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
    const detail::PhiloxKey key{0xa4093822, 0x299f31d0};
    const detail::PhiloxCounter block = detail::philox4x32(counter, key);
    const auto distance = [&](const detail::PhiloxCounter& other) {
        int bits = 0;
        for (std::size_t i = 0; i < 4; ++i) bits += __builtin_popcount(block[i] ^ other[i]);
        return bits;
    };
    // 192 counts of 128 fair bits: outside [26, 102] with probability below 1e-8 in all.
    for (std::size_t bit = 0; bit < 192; ++bit) {
        detail::PhiloxCounter x = counter;
        detail::PhiloxKey k = key;
        (bit < 128 ? x[bit / 32] : k[bit / 32 - 4]) ^= 1u << bit % 32;
        INFO("bit " << bit);
        CHECK(distance(detail::philox4x32(x, k)) >= 26);
        CHECK(distance(detail::philox4x32(x, k)) <= 102);
    }
}

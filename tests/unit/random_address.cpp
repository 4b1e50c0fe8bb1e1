// Addresses: different ones give different random numbers, and a field that does not fit is an error.
#include <specsample/random/address.hpp>

#include <set>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr std::uint64_t low_bits = 0xffff'ffff;

}  // namespace

TEST_CASE("no two of thousands of addresses share a block", "[random]") {
    std::set<detail::PhiloxCounter> blocks;
    std::size_t addresses = 0;
    const auto add = [&](const Address& address, std::uint32_t lane = 0) {
        blocks.insert(detail::random_bits(address, lane));
        ++addresses;
    };
    // All small values of all fields, in every combination.
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (std::uint64_t request = 0; request < 4; ++request)
            for (Index position = 0; position < 4; ++position)
                for (const Purpose purpose :
                     {Purpose::race, Purpose::draft, Purpose::accept, Purpose::last, Purpose::policy})
                    for (Index node = 0; node < 4; ++node)
                        for (std::uint32_t lane = 0; lane < 4; ++lane)
                            add({.seed = seed,
                                 .request = request,
                                 .position = position,
                                 .purpose = purpose,
                                 .node = node},
                                lane);
    // Every bit of every field.
    for (int bit = 2; bit < 64; ++bit) add({.seed = std::uint64_t{1} << bit});
    for (int bit = 2; bit < 32; ++bit) {
        add({.request = std::uint64_t{1} << bit});
        add({.position = Index{1} << bit});
        add({}, std::uint32_t{1} << bit);
    }
    for (int bit = 2; bit < 28; ++bit) add({.node = Index{1} << bit});
    CHECK(addresses > 5000);
    CHECK(blocks.size() == addresses);
}

TEST_CASE("an address gives the counter and the key of the documented layout", "[random]") {
    const Address address{.seed = 0x1122334455667788,
                          .request = 0x99aabbcc,
                          .position = 0xddeeff01,
                          .purpose = Purpose::last,
                          .node = 0xabcdef1};
    CHECK(detail::random_bits(address, 0x23456789) ==
          detail::philox4x32({0x23456789, 0xddeeff01, 0x3abcdef1, 0x99aabbcc}, {0x55667788, 0x11223344}));
}

TEST_CASE("the largest address is one, and the next is an error", "[random]") {
    CHECK_NOTHROW(detail::random_bits({.seed = ~std::uint64_t{0},
                                       .request = low_bits,
                                       .position = static_cast<Index>(low_bits),
                                       .purpose = Purpose::policy,
                                       .node = (1 << 28) - 1},
                                      ~std::uint32_t{0}));
    CHECK_THROWS_AS(detail::random_bits({.request = low_bits + 1}), std::invalid_argument);
    CHECK_THROWS_WITH(detail::random_bits({.request = low_bits + 1}),
                      "specsample::Address: request is 4294967296, but must be below 2^32");
    CHECK_THROWS_WITH(detail::random_bits({.position = Index{1} << 32}),
                      "specsample::Address: position is 4294967296, but must be in [0, 2^32)");
    CHECK_THROWS_WITH(detail::random_bits({.position = -1}),
                      "specsample::Address: position is -1, but must be in [0, 2^32)");
    CHECK_THROWS_WITH(detail::random_bits({.node = 1 << 28}),
                      "specsample::Address: node is 268435456, but must be in [0, 2^28)");
    CHECK_THROWS_WITH(detail::random_bits({.node = -1}), "specsample::Address: node is -1, but must be in [0, 2^28)");
}

TEST_CASE("a request that does not fit is told when it is named", "[random]") {
    CHECK(detail::checked_request(low_bits) == 0xffff'ffff);
    CHECK_THROWS_WITH(detail::checked_request(~std::uint64_t{0}),
                      "specsample::Address: request is 18446744073709551615, but must be below 2^32");
}

TEST_CASE("an address can be looked up at compile time", "[random]") {
    constexpr detail::PhiloxCounter block =
        detail::random_bits({.seed = 42, .request = 7, .position = 3, .node = 1}, 5);
    volatile std::uint64_t seed = 42;
    CHECK(block == detail::random_bits({.seed = seed, .request = 7, .position = 3, .node = 1}, 5));
}

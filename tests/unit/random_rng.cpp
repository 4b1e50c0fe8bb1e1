// The keyed RNG: its uniforms and their addresses. Statistics have fixed seeds; a sound generator fails each with
// probability 1e-9, the file with less than 1e-7.
#include <specsample/random/generator_rng.hpp>
#include <specsample/random/lanes.hpp>
#include <specsample/random/rng.hpp>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr Purpose purposes[] = {Purpose::race, Purpose::draft, Purpose::accept, Purpose::last, Purpose::policy};

/// Pearson's statistic over `bins` equal bins, and the value exceeded with probability 1e-9 (Wilson and Hilferty).
template <class Next>
bool is_uniform(int bins, int samples, Next&& next) {
    std::vector<double> counts(static_cast<std::size_t>(bins));
    for (int i = 0; i < samples; ++i) ++counts[static_cast<std::size_t>(next(i) * bins)];
    double statistic = 0;
    const double mean = samples / static_cast<double>(bins);
    for (const double count : counts) statistic += (count - mean) * (count - mean) / mean;
    const double degrees = bins - 1, scale = 2 / (9 * degrees);
    return statistic <= degrees * std::pow(1 - scale + 6 * std::sqrt(scale), 3);
}

/// The correlation of n pairs of uniforms, in standard deviations.
template <class A, class B>
double correlation(int n, A&& a, B&& b) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (a(i) - .5) * (b(i) - .5) * 12;
    return sum / std::sqrt(static_cast<double>(n));
}
constexpr double once_in_a_billion = 6.11;

/// A generator of a constant, which counts its calls.
template <class UInt, UInt smallest, UInt largest>
struct Constant {
    using result_type = UInt;
    static constexpr UInt min() { return smallest; }
    static constexpr UInt max() { return largest; }
    UInt operator()() {
        ++calls;
        return value;
    }
    UInt value;
    int calls = 0;
};
using Bits8 = Constant<std::uint8_t, 0, 255>;
using Bits16 = Constant<std::uint16_t, 0, 65535>;
using Bits32 = Constant<std::uint32_t, 0, 0xffff'ffff>;
using Bits53 = Constant<std::uint64_t, 0, (std::uint64_t{1} << 53) - 1>;
using Bits64 = Constant<std::uint64_t, 0, ~std::uint64_t{0}>;
using Shifted = Constant<std::uint32_t, 100, 0xffff'ffff>;
using Bit = Constant<std::uint32_t, 0, 1>;

}  // namespace

TEST_CASE("a uniform is a multiple of 2^-53 below 1", "[random]") {
    for (std::uint32_t lane = 0; lane < 10000; ++lane) {
        const double u = Rng({.seed = 1}).uniform(lane);
        REQUIRE(u >= 0);
        REQUIRE(u < 1);
        REQUIRE(u * 0x1p53 == std::floor(u * 0x1p53));
    }
}

TEST_CASE("a uniform uses all of its 53 bits", "[random]") {
    std::uint64_t any = 0, all = ~std::uint64_t{0};
    for (std::uint32_t lane = 0; lane < 200; ++lane) {
        const auto multiple = static_cast<std::uint64_t>(Rng({.seed = 2}).uniform(lane) * 0x1p53);
        any |= multiple;
        all &= multiple;
    }
    CHECK(any == (std::uint64_t{1} << 53) - 1);
    CHECK(all == 0);
}

TEST_CASE("an open uniform is the middle of one of 2^52 parts of (0, 1)", "[random]") {
    std::uint64_t any = 0, all = ~std::uint64_t{0};
    for (std::uint32_t lane = 0; lane < 10000; ++lane) {
        const Rng random({.seed = 3});
        const double u = random.open_uniform(lane);
        REQUIRE(u > 0);
        REQUIRE(u < 1);
        REQUIRE(u == (std::floor(random.uniform(lane) * 0x1p52) + .5) / 0x1p52);
        const auto part = static_cast<std::uint64_t>(u * 0x1p52);
        any |= part;
        if (u >= .5) all &= ~part;  // bits that are 0 in every number of the upper half, where doubles are the coarsest
    }
    CHECK(any == (std::uint64_t{1} << 52) - 1);
    CHECK((all & ((std::uint64_t{1} << 51) - 1)) == 0);
}

TEST_CASE("an RNG that is asked twice gives the same number", "[random]") {
    const RoundRng rng(1, 2, 3);
    CHECK(rng.at(Purpose::accept, 4).bits() == rng.at(Purpose::accept, 4).bits());
    CHECK(RoundRng(1, 2, 3).at(Purpose::accept, 4).bits() == rng.at(Purpose::accept, 4).bits());
}

TEST_CASE("a round's random numbers have the address of the round", "[random]") {
    const RoundRng rng(11, 12, 13);
    const Rng expected({.seed = 11, .request = 12, .position = 13, .purpose = Purpose::last, .node = 2});
    CHECK(rng.at(Purpose::last, 2).bits(9) == expected.bits(9));
    CHECK(RoundRng(10, 12, 13).at(Purpose::last, 2).bits(9) != expected.bits(9));
    CHECK(RoundRng(11, 11, 13).at(Purpose::last, 2).bits(9) != expected.bits(9));
    CHECK(RoundRng(11, 12, 12).at(Purpose::last, 2).bits(9) != expected.bits(9));
    CHECK(rng.at(Purpose::accept, 2).bits(9) != expected.bits(9));
    CHECK(rng.at(Purpose::last, 1).bits(9) != expected.bits(9));
    CHECK(rng.at(Purpose::last, 2).bits(8) != expected.bits(9));
}

TEST_CASE("an RNG that is split off shares no number with its parent, its siblings or another round", "[random]") {
    std::set<std::uint64_t> seen;
    std::size_t asked = 0;
    const auto note = [&](const RoundRng& rng) {
        for (const Purpose purpose : {Purpose::race, Purpose::draft, Purpose::accept, Purpose::last, Purpose::policy,
                                      Purpose::split, Purpose::filter})
            for (const Index node : {0, 1, 2}) {
                // The target's own noise is the same in all rounds that reach its position.
                seen.insert(rng.at(purpose, purpose == Purpose::race ? 0 : node).bits());
                asked += purpose == Purpose::race && node > 0 ? 0 : 1;
            }
    };
    for (const Index start : {0, 1, 7})
        for (const std::uint64_t request : {0u, 1u}) {
            const RoundRng rng(5, request, start);
            note(rng);
            for (const Index part : {0, 1, 9}) {
                note(rng.split(part));
                for (const Index inner : {0, 1}) note(rng.split(part).split(inner));
            }
        }
    CHECK(seen.size() == asked);
    CHECK(RoundRng(5, 0, 7).split(1).split(2).at(Purpose::accept, 3).bits() ==
          RoundRng(5, 0, 7).split(1).split(2).at(Purpose::accept, 3).bits());
}

TEST_CASE("random numbers of parts, and of a part and its parent, are independent", "[random]") {
    constexpr int n = 100000;
    const auto of_part = [](Index part, Purpose purpose) {
        return [=](int i) { return RoundRng(3, 0, i).split(part).at(purpose, 0).uniform(); };
    };
    const auto of_parent = [](int i) { return RoundRng(3, 0, i).at(Purpose::accept, 0).uniform(); };
    CHECK(std::abs(correlation(n, of_part(0, Purpose::accept), of_part(1, Purpose::accept))) < once_in_a_billion);
    CHECK(std::abs(correlation(n, of_part(0, Purpose::accept), of_part(0, Purpose::draft))) < once_in_a_billion);
    CHECK(std::abs(correlation(n, of_part(0, Purpose::accept), of_parent)) < once_in_a_billion);
    CHECK(is_uniform(64, n, of_part(0, Purpose::accept)));
}

TEST_CASE("random numbers can be computed at compile time", "[random]") {
    constexpr double u = RoundRng(1, 2, 3).at(Purpose::draft, 0).uniform();
    volatile std::uint64_t seed = 1;
    CHECK(u == RoundRng(seed, 2, 3).at(Purpose::draft, 0).uniform());
}

TEST_CASE("an RNG of a request that does not fit is refused at once", "[random]") {
    CHECK_THROWS_WITH(RoundRng(0, std::uint64_t{1} << 32, 0),
                      "specsample::Address: request is 4294967296, but must be below 2^32");
}

TEST_CASE("uniforms fill their bins evenly along every field of the address", "[random]") {
    for (const Purpose purpose : purposes) {
        INFO("purpose " << static_cast<int>(purpose));
        CHECK(is_uniform(64, 1 << 15, [&](int i) { return RoundRng(5, 0, i).at(purpose, 0).uniform(); }));
        CHECK(is_uniform(64, 1 << 15, [&](int i) { return RoundRng(5, 0, 0).at(purpose, i).uniform(); }));
        CHECK(is_uniform(64, 1 << 15, [&](int i) {
            return RoundRng(5, static_cast<std::uint64_t>(i), 0).at(purpose, 0).uniform();
        }));
        CHECK(is_uniform(64, 1 << 15, [&](int i) {
            return RoundRng(static_cast<std::uint64_t>(i), 0, 0).at(purpose, 0).uniform();
        }));
        CHECK(is_uniform(64, 1 << 15, [&](int i) {
            return RoundRng(5, 0, 0).at(purpose, 0).uniform(static_cast<std::uint32_t>(i));
        }));
    }
}

TEST_CASE("the statistic rejects a density tilted by a tenth", "[random]") {
    CHECK_FALSE(
        is_uniform(64, 1 << 15, [](int i) { return std::pow(RoundRng(5, 0, i).at(Purpose::last, 0).uniform(), 1.1); }));
}

TEST_CASE("random numbers of two purposes, nodes, rounds and requests are independent", "[random]") {
    const int n = 1 << 16;
    const auto here = [](int i) { return RoundRng(6, 0, i).at(Purpose::accept, 1).uniform(); };
    for (const Purpose purpose : {Purpose::race, Purpose::draft, Purpose::last, Purpose::policy})
        CHECK(std::abs(correlation(n, here, [&](int i) { return RoundRng(6, 0, i).at(purpose, 1).uniform(); })) <
              once_in_a_billion);
    for (const Index node : {0, 2, 17})
        CHECK(std::abs(correlation(n, here, [&](int i) {
                  return RoundRng(6, 0, i).at(Purpose::accept, node).uniform();
              })) < once_in_a_billion);
    CHECK(std::abs(correlation(n, here, [](int i) { return RoundRng(6, 0, i + 1).at(Purpose::accept, 1).uniform(); })) <
          once_in_a_billion);
    CHECK(std::abs(correlation(n, here, [](int i) { return RoundRng(6, 1, i).at(Purpose::accept, 1).uniform(); })) <
          once_in_a_billion);
    CHECK(std::abs(correlation(n, here, [](int i) { return RoundRng(7, 0, i).at(Purpose::accept, 1).uniform(); })) <
          once_in_a_billion);
    CHECK(std::abs(correlation(n, here, [](int i) { return RoundRng(6, 0, i).at(Purpose::accept, 1).uniform(1); })) <
          once_in_a_billion);
}

TEST_CASE("the correlation shows a random number that is used twice", "[random]") {
    const auto here = [](int i) { return RoundRng(6, 0, i).at(Purpose::accept, 1).uniform(); };
    CHECK(correlation(1 << 16, here, here) > 100);
}

TEST_CASE("a uniform of a generator takes as many of its numbers as hold 53 bits", "[random]") {
    CHECK(GeneratorRng<Bit>::draws == 53);
    CHECK(GeneratorRng<Bits8>::draws == 7);
    CHECK(GeneratorRng<Bits16>::draws == 4);
    CHECK(GeneratorRng<std::ranlux24_base>::draws == 3);
    CHECK(GeneratorRng<std::minstd_rand>::draws == 2);  // 31 bits
    CHECK(GeneratorRng<std::mt19937>::draws == 2);
    CHECK(GeneratorRng<Bits32>::draws == 2);
    CHECK(GeneratorRng<Bits53>::draws == 1);
    CHECK(GeneratorRng<std::mt19937_64>::draws == 1);
    CHECK(GeneratorRng<Bits64>::draws == 1);
}

TEMPLATE_TEST_CASE("a uniform of a generator at its maximum is below 1, at its minimum 0", "[random]", Bit, Bits8,
                   Bits16, Bits32, Bits53, Bits64, Shifted) {
    TestType generator{TestType::max()};
    const double u = GeneratorRng(generator).at(Purpose::draft, 0).uniform();
    CHECK(generator.calls == GeneratorRng<TestType>::draws);
    CHECK(u < 1);
    CHECK(u > .999999);
    generator.value = TestType::min();
    CHECK(GeneratorRng(generator).at(Purpose::draft, 0).uniform() == 0);
}

TEMPLATE_TEST_CASE("uniforms of the standard's generators are uniform", "[random]", std::mt19937, std::mt19937_64,
                   std::minstd_rand, std::ranlux24_base) {
    TestType generator(2024);
    const GeneratorRng rng(generator);
    CHECK(is_uniform(64, 1 << 15, [&](int) { return rng.at(Purpose::accept, 0).uniform(); }));
}

TEST_CASE("uniforms of one generator follow each other, whatever their purpose", "[random]") {
    std::mt19937 generator(1), same(1);
    const GeneratorRng rng(generator), plain(same);
    for (const Purpose purpose : purposes) CHECK(rng.at(purpose, 3).uniform() == plain.at(Purpose::draft, 0).uniform());
    CHECK(generator == same);
}

static_assert(detail::BitGenerator<std::mt19937> && detail::BitGenerator<std::random_device> &&
              !detail::BitGenerator<int>);
static_assert(!detail::BitGenerator<const std::mt19937> && !detail::BitGenerator<Rng> &&
              !detail::BitGenerator<double (*)()>);

TEST_CASE("many uniforms at once equal the uniforms one by one", "[random]") {
    const Rng random({.seed = 77, .request = 3, .position = 12, .purpose = Purpose::race, .node = 5});
    for (const std::size_t size : {0u, 1u, 2u, 63u, 64u, 65u, 128u, 300u}) {
        std::vector<std::uint32_t> lanes(size);
        for (std::size_t i = 0; i < size; ++i)
            lanes[i] = static_cast<std::uint32_t>(random.bits(1000 + static_cast<std::uint32_t>(i)));
        std::vector<double> uniforms(size + 1, -1);
        random.open_uniforms(lanes, uniforms.data());
        for (std::size_t i = 0; i < size; ++i) CHECK(uniforms[i] == random.open_uniform(lanes[i]));
        CHECK(uniforms[size] == -1);
    }
}

TEST_CASE("the numbers from a lane on are those of the lanes that follow it", "[random]") {
    const Rng random({.seed = 77, .request = 3, .position = 12, .purpose = Purpose::last});
    for (const std::uint32_t first : {0u, 1u, 40u}) {
        const Rng from = random.from(first), twice = random.from(first / 2).from(first - first / 2);
        std::vector<std::uint32_t> lanes(70);
        std::vector<double> uniforms(lanes.size());
        for (std::uint32_t lane = 0; lane < 70; ++lane) lanes[lane] = lane;
        from.open_uniforms(lanes, uniforms.data());
        for (std::uint32_t lane = 0; lane < 70; ++lane) {
            CHECK(from.uniform(lane) == random.uniform(first + lane));
            CHECK(twice.bits(lane) == random.bits(first + lane));
            CHECK(uniforms[lane] == random.open_uniform(first + lane));
        }
    }
}

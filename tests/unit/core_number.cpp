// is_finite, is_infinity, is_zero and is_positive, for every kind of number. These must hold under -ffast-math too, so
// numbers that are not finite are made from bits and read through memory that no optimiser can see into.
#include <specsample/core/number.hpp>

#include <limits>

#include "support/catch.hpp"

using specsample::detail::is_finite;
using specsample::detail::is_infinity;
using specsample::detail::is_positive;
using specsample::detail::is_zero;

namespace {

double from_bits(std::uint64_t bits) {
    static volatile std::uint64_t memory;
    memory = bits;
    return std::bit_cast<double>(static_cast<std::uint64_t>(memory));
}

constexpr std::uint64_t positive_infinity = 0x7ff0'0000'0000'0000, negative_infinity = 0xfff0'0000'0000'0000;
constexpr std::uint64_t quiet_nan = 0x7ff8'0000'0000'0000, negative_nan = 0xfff8'0000'0000'0001;
constexpr std::uint64_t signalling_nan = 0x7ff0'0000'0000'0001, full_nan = 0x7fff'ffff'ffff'ffff;

constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::min(),
                 denormal = std::numeric_limits<double>::denorm_min();

static_assert(is_finite(0) && is_finite(largest) && is_finite(-largest) && is_finite(denormal));
static_assert(is_positive(1) && !is_positive(0) && !is_positive(-1));

}  // namespace

TEST_CASE("infinities and every NaN are not finite", "[core]") {
    for (const std::uint64_t bits :
         {positive_infinity, negative_infinity, quiet_nan, negative_nan, signalling_nan, full_nan}) {
        INFO(std::hex << bits);
        CHECK_FALSE(is_finite(from_bits(bits)));
        CHECK_FALSE(is_positive(from_bits(bits)));
        CHECK_FALSE(is_zero(from_bits(bits)));
        CHECK(is_infinity(from_bits(bits)) == (bits == positive_infinity));
    }
}

TEST_CASE("zeros, denormals and the extremes are finite", "[core]") {
    for (const double x : {0., -0., 1., -1., denormal, -denormal, smallest, largest, -largest}) {
        INFO(x);
        CHECK(is_finite(from_bits(std::bit_cast<std::uint64_t>(x))));
    }
}

TEST_CASE("zero and negative numbers are not positive, the smallest and the largest are", "[core]") {
    for (const double x : {0., -0., -smallest, -1., -largest}) {
        INFO(x);
        CHECK_FALSE(is_positive(from_bits(std::bit_cast<std::uint64_t>(x))));
    }
    for (const double x : {smallest, 1., largest}) {
        INFO(x);
        CHECK(is_positive(from_bits(std::bit_cast<std::uint64_t>(x))));
    }
}

TEST_CASE("zeros of both signs are zero, and no other number is", "[core]") {
    for (const double x : {0., -0.}) CHECK(is_zero(from_bits(std::bit_cast<std::uint64_t>(x))));
    for (const double x : {smallest, -smallest, 1., -1., largest}) {
        INFO(x);
        CHECK_FALSE(is_zero(from_bits(std::bit_cast<std::uint64_t>(x))));
    }
}

TEST_CASE("a float that is NaN is still detected after its conversion to double", "[core]") {
    static volatile float memory;
    memory = std::bit_cast<float>(std::uint32_t{0x7fc00000});
    CHECK_FALSE(is_finite(static_cast<double>(memory)));
    memory = std::bit_cast<float>(std::uint32_t{0xff800000});
    CHECK_FALSE(is_finite(static_cast<double>(memory)));
    memory = std::numeric_limits<float>::max();
    CHECK(is_finite(static_cast<double>(memory)));
}

// to_floats: all 65536 patterns of both types, in whole chunks and remainders.
#include <specsample/kernels/convert.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
bool nan_bits(std::uint32_t bits) { return (bits & 0x7fff'ffff) > 0x7f80'0000; }

/// The value of a half with this pattern, computed in integers and powers of two, which -ffast-math cannot change.
std::uint32_t half_as_float(std::uint32_t half) {
    const std::uint32_t sign = (half >> 15) << 31, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    if (exponent == 31) return sign | 0x7f80'0000 | fraction << 13;
    if (exponent > 0) return sign | (exponent + 112) << 23 | fraction << 13;
    if (fraction == 0) return sign;
    const auto top = static_cast<std::uint32_t>(std::bit_width(fraction)) - 1;  // 2^-24 times a number in [2^top, ..)
    return sign | (top + 103) << 23 | (fraction << (23 - top) & 0x7f'ffff);
}

template <class Half>
std::uint32_t as_float(std::uint32_t pattern) {
    return std::is_same_v<Half, Eigen::half> ? half_as_float(pattern) : pattern << 16;
}

template <class Half>
std::vector<Half> every_pattern() {
    std::vector<Half> all;
    for (std::uint32_t i = 0; i < 65536; ++i) all.push_back(std::bit_cast<Half>(static_cast<std::uint16_t>(i)));
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("every half has its own float", "[kernels]", Eigen::half, Eigen::bfloat16) {
    const auto in = every_pattern<TestType>();
    std::vector<float> out(in.size());
    detail::to_floats(in.data(), static_cast<Index>(in.size()), out.data());
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < in.size(); ++i) {
        const std::uint32_t expected = as_float<TestType>(i), found = bits_of(out[i]);
        wrong += nan_bits(expected) ? !nan_bits(found) || found >> 31 != expected >> 31 : found != expected;
    }
    CHECK(wrong == 0);
}

#if !defined(__FAST_MATH__)  // where Eigen's own conversion loses the subnormal ones
TEMPLATE_TEST_CASE("floats of halves are those of Eigen", "[kernels]", Eigen::half, Eigen::bfloat16) {
    const auto in = every_pattern<TestType>();
    std::vector<float> out(in.size());
    detail::to_floats(in.data(), static_cast<Index>(in.size()), out.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::uint32_t expected = bits_of(static_cast<float>(in[i])), found = bits_of(out[i]);
        wrong += nan_bits(expected) ? !nan_bits(found) : found != expected;
    }
    CHECK(wrong == 0);
}
#endif

TEMPLATE_TEST_CASE("halves are converted from anywhere, and nothing else is written", "[kernels]", Eigen::half,
                   Eigen::bfloat16) {
    const auto in = every_pattern<TestType>();
    for (const Index first : {0, 1, 31743})
        for (Index count = 0; count < 200; ++count) {
            std::vector<float> out(static_cast<std::size_t>(count) + 2, -7.f);
            detail::to_floats(in.data() + first, count, out.data() + 1);
            std::size_t wrong = (out.front() != -7.f) + (out.back() != -7.f);
            for (Index i = 0; i < count; ++i) {
                const std::uint32_t expected = as_float<TestType>(static_cast<std::uint32_t>(first + i));
                wrong += !nan_bits(expected) && bits_of(out[static_cast<std::size_t>(i) + 1]) != expected;
            }
            INFO("first " << first << ", count " << count);
            CHECK(wrong == 0);
        }
}

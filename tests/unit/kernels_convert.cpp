// 16-bit numbers to float: all 65536 patterns of both types, to the bit, by every way that the target has.
#include <specsample/kernels/block.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// The value of a half with this pattern, computed in integers and powers of two, which -ffast-math cannot change. A
/// NaN keeps its payload and is quiet.
std::uint32_t half_as_float(std::uint32_t half) {
    const std::uint32_t sign = (half >> 15) << 31, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    if (exponent == 31) return sign | 0x7f80'0000 | fraction << 13 | (fraction > 0 ? 0x40'0000 : 0);
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

template <class Half>
Index wrong_ones(const std::vector<float>& floats) {
    Index wrong = 0;
    for (std::uint32_t i = 0; i < floats.size(); ++i) wrong += bits_of(floats[i]) != as_float<Half>(i);
    return wrong;
}

/// Convert numbers into registers of type Packet, and store these.
template <class Packet, class Half>
std::vector<float> by_registers(const std::vector<Half>& in) {
    constexpr std::size_t size = sizeof(Packet) / sizeof(float);
    std::vector<float> out(in.size());
    for (std::size_t i = 0; i < in.size(); i += size) {
        Packet floats;
        detail::load_floats(&in[i], floats);
        std::memcpy(&out[i], &floats, sizeof floats);
    }
    return out;
}

/// The expression that sums are made of, evaluated `size` entries at a time.
template <Index size, class Half>
std::vector<float> by_expression(const std::vector<Half>& in) {
    std::vector<float> out(in.size());
    for (std::size_t i = 0; i < in.size(); i += size)
        Eigen::Array<float, size, 1>::Map(&out[i]) = detail::entries_at<size>(in.data(), static_cast<Index>(i));
    return out;
}

}  // namespace

TEMPLATE_TEST_CASE("every half has its own float", "[kernels]", Eigen::half, Eigen::bfloat16) {
    const auto in = every_pattern<TestType>();
    std::vector<float> out(in.size());
    detail::to_floats(in.data(), static_cast<Index>(in.size()), out.data());
    CHECK(wrong_ones<TestType>(out) == 0);
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = detail::bits_to_float(TestType{}, detail::bits_at(&in[i]));
    CHECK(wrong_ones<TestType>(out) == 0);  // in integers, on every target
    CHECK(wrong_ones<TestType>(by_registers<float>(in)) == 0);
    CHECK(wrong_ones<TestType>(by_expression<1>(in)) == 0);
    if constexpr (detail::loads_floats<TestType>) {
        CHECK(wrong_ones<TestType>(by_registers<detail::FloatPacket>(in)) == 0);
        CHECK(wrong_ones<TestType>(by_expression<detail::stripe_width>(in)) == 0);
    }
}

// A target whose registers are not used would pass all other tests, but slowly.
TEST_CASE("halves are converted in registers where the target has the instructions", "[kernels]") {
#if defined(EIGEN_VECTORIZE_AVX2) && defined(__F16C__)
    CHECK(detail::loads_floats<Eigen::half>);
#endif
#if defined(EIGEN_VECTORIZE_AVX2) && defined(__F16C__) || defined(EIGEN_VECTORIZE_SSE2) && !defined(EIGEN_VECTORIZE_AVX)
    CHECK(detail::loads_floats<Eigen::bfloat16>);
#endif
    CHECK_FALSE(detail::loads_floats<float>);
}

#if !defined(__FAST_MATH__)  // where Eigen's own conversion loses the subnormal ones
TEMPLATE_TEST_CASE("floats of halves are those of Eigen", "[kernels]", Eigen::half, Eigen::bfloat16) {
    const auto in = every_pattern<TestType>();
    std::vector<float> out(in.size());
    detail::to_floats(in.data(), static_cast<Index>(in.size()), out.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::uint32_t expected = bits_of(static_cast<float>(in[i])), found = bits_of(out[i]);
        const bool is_nan = (expected & 0x7fff'ffff) > 0x7f80'0000;  // Eigen's own may signal
        wrong += found != expected && !(is_nan && found == (expected | 0x40'0000));
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
                wrong += bits_of(out[static_cast<std::size_t>(i) + 1]) != expected;
            }
            INFO("first " << first << ", count " << count);
            CHECK(wrong == 0);
        }
}

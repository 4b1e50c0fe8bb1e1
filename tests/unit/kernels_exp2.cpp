// ScaledExp2: accuracy over its whole range, the special values by their bits, and one result for scalars and packets.
#include <specsample/kernels/exp2.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;
using detail::ScaledExp2;

namespace {

template <class Value>
auto bits_of(Value x) {
    return std::bit_cast<std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>>(x);
}

template <class Value>
constexpr int top = std::numeric_limits<Value>::max_exponent;
template <class Value>
constexpr int bottom = std::numeric_limits<Value>::min_exponent - 1;

template <class Value>
using Bits = decltype(bits_of(Value{}));
template <class Value>
constexpr Bits<Value> sign = Bits<Value>{1} << (8 * sizeof(Value) - 1);
template <class Value>
constexpr Bits<Value> infinity =
    ((Bits<Value>{1} << (sizeof(Value) == 4 ? 8 : 11)) - 1) << (std::numeric_limits<Value>::digits - 1);

/// Infinities and NaN are written to memory bit by bit, because -ffast-math assumes that they cannot occur.
template <class Value>
void write(Value& x, Bits<Value> bits) {
    std::memcpy(&x, &bits, sizeof bits);
}

/// True if two numbers have the same bits. For doubles in a loop g++ -O3 -ffast-math uses the exp2 of libmvec, an ulp
/// or two away.
template <class Value>
bool same(Value x, Value y) {
    constexpr Bits<Value> slack = sizeof(Value) == 8 && detail::nan_may_be_lost ? 4 : 0;
    const auto [low, high] = std::minmax({bits_of(x), bits_of(y)});
    return high - low <= slack || (low & ~sign<Value>) > infinity<Value>;  // one NaN has many bits
}

/// f of every entry, as an expression, which works by packets; checked against f of each number.
template <class Value>
std::vector<Value> powers(const ScaledExp2<Value>& f, const std::vector<Value>& x) {
    const auto size = static_cast<Eigen::Index>(x.size());
    std::vector<Value> y(x.size());
    using Column = Eigen::Array<Value, Eigen::Dynamic, 1>;
    Eigen::Map<Column>(y.data(), size) = Eigen::Map<const Column>(x.data(), size).unaryExpr(f);
    const Column again = Eigen::Map<const Column>(x.data(), size).unaryExpr(detail::ByReference(f));
    std::size_t other = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Value single = f(x[i]);
        other += !same(single, y[i]) || !same(again[static_cast<Eigen::Index>(i)], y[i]);
    }
    CHECK(other == 0);
    return y;
}

/// Numbers from low to high in equal steps, none of them round.
template <class Value>
std::vector<Value> steps(double low, double high, int count) {
    std::vector<Value> x;
    for (int i = 0; i < count; ++i) x.push_back(static_cast<Value>(low + (high - low) * i / count));
    return x;
}

/// The largest error of f relative to factor * 2^((x - pivot) * scale), the exponent rounded as Value rounds it, where
/// that is a normal number.
template <class Value>
double worst(const std::vector<Value>& x, Value pivot, Value scale, Value factor) {
    const auto y = powers(ScaledExp2<Value>(pivot, scale, factor), x);
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Value t = (x[i] - pivot) * scale;
        const double exact = static_cast<double>(factor) * std::exp2(static_cast<double>(t));
        if (exact < static_cast<double>(std::numeric_limits<Value>::min())) continue;
        most = std::max(most, std::abs(static_cast<double>(y[i]) / exact - 1));
    }
    return most;
}

template <class Value>
constexpr double tolerance = sizeof(Value) == 4 ? 2.3e-7 : 1e-15;

}  // namespace

TEMPLATE_TEST_CASE("exp2 is accurate over its whole range", "[kernels]", float, double) {
    const auto x = steps<TestType>(bottom<TestType> + .5001, top<TestType> - .001, 1 << 19);
    CHECK(worst<TestType>(x, 0, 1, 1) < tolerance<TestType>);
    CHECK(worst<TestType>(steps<TestType>(-2, 2, 1 << 19), 0, 1, 1) < tolerance<TestType>);
}

TEMPLATE_TEST_CASE("exp2 is accurate at every pivot, scale and factor", "[kernels]", float, double) {
    for (const double pivot : {-1e6, -3.25, 0., 17.1, 1e6})
        for (const double scale : {1e-30, 1e-3, .7213, 1.4426950408889634, 1e3, 1e30})
            for (const double factor : {1e-3, .7, 1., 3e5}) {
                const double width = std::min(100 / scale, 1e30);
                const auto x = steps<TestType>(pivot - width, pivot + width / 2, 1000);
                INFO("pivot " << pivot << ", scale " << scale << ", factor " << factor);
                const auto to = [](double value) { return static_cast<TestType>(value); };
                CHECK(worst<TestType>(x, to(pivot), to(scale), to(factor)) < 1.3 * tolerance<TestType>);
            }
}

TEMPLATE_TEST_CASE("exp2 of an integer is exact", "[kernels]", float, double) {
    const ScaledExp2<TestType> f(0, 1), five(3, 1, 5);
    std::size_t wrong = 0;
    for (int n = bottom<TestType> + 1; n < top<TestType>; ++n)
        wrong += f(static_cast<TestType>(n)) != std::ldexp(TestType{1}, n);
    CHECK(wrong == 0);
    CHECK(five(3) == 5);
}

TEMPLATE_TEST_CASE("exp2 of what has no power is exactly 0", "[kernels]", float, double) {
    const auto low = static_cast<TestType>(bottom<TestType>), least = std::numeric_limits<TestType>::lowest();
    std::vector<TestType> x{std::nextafter(low, least), low - TestType{.5}, low - 1, low - 2, -1e9f, -1e30f, least, 0};
    write(x.back(), infinity<TestType> | sign<TestType>);
    for (const float factor : {1.f, 1e6f})
        for (const TestType& y : powers(ScaledExp2<TestType>(0, 1, static_cast<TestType>(factor)), x))
            CHECK(bits_of(y) == 0);
    for (const float scale : {1e-37f, 1e-3f, 1e30f})
        CHECK(bits_of(ScaledExp2<TestType>(5, static_cast<TestType>(scale))(x.back())) == 0);
}

TEMPLATE_TEST_CASE("exp2 shows an overflow", "[kernels]", float, double) {
    const auto high = static_cast<TestType>(top<TestType>), most = std::numeric_limits<TestType>::max();
    std::vector<TestType> x{high, high + TestType{.25}, high + 1, high + 2, 2 * high, 1e30f, most, 0};
    write(x.back(), infinity<TestType>);
    for (const float pivot : {0.f, -3.f})
        for (const TestType& y : powers(ScaledExp2<TestType>(static_cast<TestType>(pivot), 1), x))
            CHECK(bits_of(y) == infinity<TestType>);
    CHECK(bits_of(ScaledExp2<TestType>(0, 1)(std::nextafter(high, TestType{0}))) < infinity<TestType>);
}

TEMPLATE_TEST_CASE("exp2 keeps every NaN, in every lane", "[kernels]", float, double) {
    const auto is_nan_bits = [](const TestType& x) { return (bits_of(x) & ~sign<TestType>) > infinity<TestType>; };
    const auto exponent = infinity<TestType>, quiet = exponent | exponent >> 1;
    for (const auto nan : {quiet, exponent | 1, sign<TestType> - 1})
        for (const auto bits : {nan, nan | sign<TestType>})
            for (std::size_t at = 0; at < 37; ++at) {
                std::vector<TestType> x(37, TestType{-1.5});
                write(x[at], bits);
                const ScaledExp2<TestType> f(1, 2, 3);
                const auto y = powers(f, x);
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const TestType single = f(x[i]);
                    wrong += is_nan_bits(y[i]) != (i == at) || is_nan_bits(single) != (i == at);
                }
                CHECK(wrong == 0);
            }
}

TEST_CASE("exp2 has the same bits in every register", "[kernels]") {
    constexpr int width = Eigen::internal::packet_traits<float>::size, half = std::max(width / 2, 1);
    auto x = steps<float>(-140, 128.49, 1 << 16);
    for (const float t : {-125.5f, std::nextafter(-125.5f, -126.f), std::nextafter(-125.5f, 0.f), -.5f, .5f, 127.5f})
        x.push_back(t);
    x.resize(x.size() / 16 * 16 + 32, -1.25f);
    write(x[0], infinity<float> | sign<float>);
    write(x.back(), infinity<float> | infinity<float> >> 1);  // a NaN
    std::size_t other = 0;
    for (const float factor : {1.f, .3f, 1e-30f, 3e5f}) {
        const ScaledExp2<float> f(0, 1, factor);
        std::vector<float> wide(x.size()), narrow(x.size());
        const auto fill = [&]<int size>(std::vector<float>& y, std::integral_constant<int, size>) {
            using Part = Eigen::Array<float, size, 1>;
            for (std::size_t i = 0; i < x.size(); i += size)
                Eigen::Map<Part>(y.data() + i) = Eigen::Map<const Part>(x.data() + i).unaryExpr(f);
        };
        fill(wide, std::integral_constant<int, width>{});
        fill(narrow, std::integral_constant<int, half>{});
        for (std::size_t i = 0; i < x.size(); ++i) other += !same(wide[i], narrow[i]);
    }
    CHECK(other == 0);
}

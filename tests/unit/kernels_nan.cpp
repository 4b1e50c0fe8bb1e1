// has_nan: every NaN by its bits, at every position, and no other number.
#include <specsample/kernels/nan.hpp>

#include <cmath>
#include <vector>

#include <specsample/kernels/argmax.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::kernels;
using numbers::Bits;
using numbers::Special;

namespace {

template <class Value>
bool has_nan(const std::vector<Value>& row) {
    return detail::has_nan(row.data(), static_cast<Index>(row.size()));
}

template <class Value>
void write_bits(Value& x, Bits<Value> bits) {
    std::memcpy(&x, &bits, sizeof bits);
}

}  // namespace

TEMPLATE_TEST_CASE("a NaN is found wherever it is", "[kernels]", float, double) {
    for (const std::size_t size : {1u, 2u, 3u, 15u, 63u, 64u, 65u, 130u, 511u, 512u, 513u, 700u, 1100u}) {
        std::vector<TestType> row(size, TestType(-1.5));
        int missed = 0;
        for (std::size_t at = 0; at < size; ++at) {
            numbers::write(row[at], at % 2 == 0 ? Special::nan : Special::minus_nan);
            missed += !has_nan(row);
            row[at] = TestType(-1.5);
        }
        INFO("size " << size);
        CHECK(missed == 0);
        CHECK_FALSE(has_nan(row));
    }
}

TEMPLATE_TEST_CASE("every NaN is one, quiet or signalling, of either sign", "[kernels]", float, double) {
    constexpr Bits<TestType> exponent = numbers::infinity<TestType>, sign = numbers::sign<TestType>;
    std::vector<TestType> row(600, TestType(1));
    for (const Bits<TestType> nan : {static_cast<Bits<TestType>>(exponent | 1), exponent | exponent >> 1, sign - 1})
        for (const Bits<TestType> bits : {nan, nan | sign})
            for (const std::size_t at : {0u, 17u, 599u}) {
                write_bits(row[at], bits);
                CHECK(has_nan(row));
                row[at] = 1;
            }
}

TEMPLATE_TEST_CASE("no other number is a NaN", "[kernels]", float, double) {
    using Limits = std::numeric_limits<TestType>;
    std::vector<TestType> row(600, Limits::max());
    for (std::size_t i = 0; i < row.size(); i += 3) row[i] = Limits::lowest();
    for (std::size_t i = 1; i < row.size(); i += 6) row[i] = Limits::min() / 2;
    for (std::size_t i = 4; i < row.size(); i += 6) row[i] = -TestType(0);
    CHECK_FALSE(has_nan(row));
    for (std::size_t i = 2; i < row.size(); i += 3)
        numbers::write(row[i], i % 2 == 0 ? Special::infinity : Special::minus_infinity);
    CHECK_FALSE(has_nan(row));
    CHECK_FALSE(has_nan(std::vector<TestType>{}));
}

TEMPLATE_TEST_CASE("a row with a NaN or +inf has no largest entry", "[kernels]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    for (const std::size_t size : {1u, 3u, 512u, 513u, 1100u})
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1})
            for (const Special what : {Special::nan, Special::minus_nan, Special::infinity}) {
                std::vector<TestType> row(size, static_cast<TestType>(2.f));
                numbers::write(row[at], what);
                INFO(at << " of " << size);
                CHECK(argmax(row) == -1);
                row[at] = static_cast<TestType>(3.f);
                CHECK(argmax(row) == static_cast<Index>(at));
            }
}

TEMPLATE_TEST_CASE("a row of minus infinities has no largest entry", "[kernels]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    std::vector<TestType> row(700);
    for (TestType& x : row) numbers::write(x, Special::minus_infinity);
    CHECK(argmax(row) == -1);
    row[600] = static_cast<TestType>(-3.f);
    CHECK(argmax(row) == 600);
}

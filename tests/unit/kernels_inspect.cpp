// inspect: every cause, the tolerance of every scalar, and every position in the row.
#include <specsample/kernels/inspect.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Scalar>
std::vector<Scalar> to(const std::vector<float>& row) {
    std::vector<Scalar> result;
    for (const float x : row) result.push_back(static_cast<Scalar>(x));
    return result;
}

template <class R>
bool is_distribution(const R& row) {
    return !inspect(row, Side::target, 0);
}

template <class R>
RowFault fault_of(const R& row) {
    const auto fault = inspect(row, Side::draft, 7);
    REQUIRE(fault);
    CHECK(fault->side == Side::draft);
    CHECK(fault->row == 7);
    return *fault;
}

}  // namespace

TEMPLATE_TEST_CASE("a distribution has no fault, whatever its size", "[kernels]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    for (const std::size_t size : {1u, 2u, 32u, 64u, 512u, 1024u, 4096u})
        CHECK(is_distribution(std::vector<TestType>(size, static_cast<TestType>(1.f / static_cast<float>(size)))));
    CHECK(is_distribution(to<TestType>({0.f, 1.f, 0.f})));
    CHECK(is_distribution(to<TestType>({.5f, -0.f, .5f})));
}

TEST_CASE("a row without entries is empty", "[kernels]") {
    CHECK(fault_of(std::vector<float>()).cause == Cause::empty);
    CHECK(fault_of(Eigen::VectorXd()).cause == Cause::empty);
}

TEMPLATE_TEST_CASE("a NaN or an infinity is named with its id, wherever it is", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : {1, 31, 32, 33, 512, 513, 1100})
        for (const Index at : {Index{0}, size / 2, size - 1})
            for (const float bad : {std::nanf(""), infinity}) {
                std::vector<TestType> row(static_cast<std::size_t>(size),
                                          static_cast<TestType>(1.f / static_cast<float>(size)));
                row[static_cast<std::size_t>(at)] = static_cast<TestType>(bad);
                INFO(bad << " at " << at << " of " << size);
                const RowFault fault = fault_of(row);
                CHECK(fault.cause == Cause::not_finite);
                CHECK(fault.id == at);
                CHECK(std::isnan(fault.value) == std::isnan(bad));
                if (!std::isnan(bad)) CHECK(fault.value == static_cast<double>(bad));
            }
}

TEMPLATE_TEST_CASE("a negative entry is named with its id, wherever it is", "[kernels]", float, double, Eigen::half) {
    for (const Index size : {2, 31, 33, 513, 1100})
        for (const Index at : {Index{0}, size / 2, size - 1}) {
            std::vector<TestType> row(static_cast<std::size_t>(size), TestType(0));
            row[static_cast<std::size_t>((at + 1) % size)] = static_cast<TestType>(1.f);
            row[static_cast<std::size_t>(at)] = static_cast<TestType>(-.0009765625f);  // the sum stays within tolerance
            INFO(at << " of " << size);
            const RowFault fault = fault_of(row);
            CHECK(fault.cause == Cause::negative);
            CHECK(fault.id == at);
            CHECK(fault.value == -.0009765625);
        }
}

TEST_CASE("of several negative entries the first is named", "[kernels]") {
    const RowFault fault = fault_of(std::vector<double>{.7, -.1, .8, -.4});
    CHECK(fault.cause == Cause::negative);
    CHECK(fault.id == 1);
    CHECK(fault.value == -.1);
}

TEST_CASE("the smallest negative number is negative", "[kernels]") {
#if !defined(__FAST_MATH__)  // there, subnormal numbers are zero
    CHECK(fault_of(std::vector<double>{1, -std::numeric_limits<double>::denorm_min()}).cause == Cause::negative);
#endif
    CHECK(fault_of(std::vector<double>{1, -std::numeric_limits<double>::min()}).cause == Cause::negative);
}

TEMPLATE_TEST_CASE("a sum within the scalar's tolerance is a distribution, one outside it is not", "[kernels]", float,
                   double, Eigen::half, Eigen::bfloat16) {
    // Steps of 2^-9 are exact near 1/4 in every scalar; 2^-10 is within 1e-3, 2^-9 is not; 2^-7 is within 1e-2, 2^-6 is
    // not.
    const bool narrow = sizeof(TestType) == 2;
    const double inside = narrow ? 0x1p-7 : 0x1p-10, outside = narrow ? 0x1p-6 : 0x1p-9;
    for (const double sign : {1., -1.}) {
        const auto row = [&](double off) {
            return to<TestType>({.25f, .25f, .25f, static_cast<float>(.25 + sign * off)});
        };
        INFO(sign);
        CHECK(is_distribution(row(inside)));
        const RowFault fault = fault_of(row(outside));
        CHECK(fault.cause == Cause::not_normalised);
        CHECK(fault.value == 1 + sign * outside);
        CHECK(fault.bound == sum_tolerance<TestType>);
    }
}

TEST_CASE("the tolerance is that of the scalar's size", "[kernels]") {
    CHECK(sum_tolerance<float> == 1e-3);
    CHECK(sum_tolerance<double> == 1e-3);
    CHECK(sum_tolerance<Eigen::half> == 1e-2);
    CHECK(sum_tolerance<Eigen::bfloat16> == 1e-2);
}

TEST_CASE("all zeros are not normalised", "[kernels]") {
    const RowFault fault = fault_of(std::vector<float>(600, 0.f));
    CHECK(fault.cause == Cause::not_normalised);
    CHECK(fault.value == 0);
}

TEMPLATE_TEST_CASE("entries far below 0 or above 1 look like logits", "[kernels]", float, double, Eigen::half) {
    const RowFault fault = fault_of(to<TestType>({2.f, -3.5f, .5f, 12.f}));
    CHECK(fault.cause == Cause::logits);
    CHECK(fault.value == 11);
    CHECK(fault_of(to<TestType>({-2.f, -1.5f})).cause == Cause::logits);
    CHECK(fault_of(to<TestType>({4.f, 0.f})).cause == Cause::logits);
}

TEST_CASE("logits that happen to sum to 1 are told by their negative entries", "[kernels]") {
    CHECK(fault_of(std::vector<float>{3, -2}).cause == Cause::logits);
    CHECK(fault_of(std::vector<float>{1.5f, -.5f}).cause == Cause::logits);
}

TEST_CASE("small negative entries are negative, not logits", "[kernels]") {
    CHECK(fault_of(std::vector<float>{.75f, -.25f, .5f}).cause == Cause::negative);
    CHECK(fault_of(std::vector<float>{.9f, -1.f, .5f}).cause == Cause::negative);
    CHECK(fault_of(std::vector<float>{.9f, -1.01f, .5f}).cause == Cause::logits);
}

TEST_CASE("a number that is none is named before anything else", "[kernels]") {
    const RowFault fault = fault_of(std::vector<float>{-5, 9, -infinity, std::nanf("")});
    CHECK(fault.cause == Cause::not_finite);
    CHECK(fault.id == 3);
}

TEST_CASE("minus infinity is how logits are masked", "[kernels]") {
    const RowFault fault = fault_of(std::vector<float>{.5f, -infinity, .5f});
    CHECK(fault.cause == Cause::logits);
    CHECK(numbers::is_infinite(fault.value));  // -ffast-math knows no infinity to compare with
    CHECK((numbers::bits_of(fault.value) & numbers::sign<double>) != 0);
}

TEST_CASE("strided rows and expressions are inspected like their copies", "[kernels]") {
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Constant(3, 100, .02f);
    matrix.row(1).setConstant(.01f);
    CHECK(is_distribution(matrix.row(1)));
    CHECK(fault_of(matrix.row(2)).cause == Cause::not_normalised);
    CHECK(is_distribution(matrix.row(2) * .5f));
    matrix(1, 99) = -.01f;
    CHECK(fault_of(matrix.row(1)).id == 99);
}

TEST_CASE("a quarter of a million floats that sum to 1 are a distribution", "[kernels]") {
    CHECK(is_distribution(std::vector<float>(262144, 1.f / 262144)));
    CHECK(is_distribution(std::vector<float>(300001, 1.f / 300001)));
    CHECK_FALSE(is_distribution(std::vector<float>(262144, 1.002f / 262144)));
}

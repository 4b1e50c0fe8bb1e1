// argmax: lowest id on ties, -1 where there is no largest entry.
#include <specsample/kernels/argmax.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"

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

}  // namespace

TEMPLATE_TEST_CASE("the largest entry is found wherever it is", "[kernels]", float, double, Eigen::half,
                   Eigen::bfloat16) {
    for (const std::size_t size : {1u, 2u, 31u, 33u, 513u, 5000u})
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<TestType> row(size, static_cast<TestType>(-3.f));
            row[at] = static_cast<TestType>(-2.f);
            CHECK(argmax(row) == static_cast<Index>(at));
        }
}

TEMPLATE_TEST_CASE("ties go to the lowest id", "[kernels]", float, double, Eigen::half) {
    CHECK(argmax(to<TestType>({0.f, .4f, .2f, .4f})) == 1);
    CHECK(argmax(to<TestType>({1.f, 1.f, 1.f})) == 0);
    CHECK(argmax(to<TestType>({-0.f, 0.f})) == 0);
    CHECK(argmax(to<TestType>({-infinity, -5.f, -5.f})) == 1);
}

TEST_CASE("in rows of many blocks, too, ties go to the lowest id, and a NaN anywhere is found", "[kernels]") {
    for (const Index size : {1024, 1535, 1536, 2048, 3000, 5000})
        for (const Index first : {Index{0}, Index{511}, size / 2 - 1, size / 2, size - 1})
            for (const Index second : {Index{0}, size / 2 - 1, size / 2, size / 2 + 511, size - 1}) {
                Eigen::ArrayXf row = Eigen::ArrayXf::LinSpaced(size, -1, 0);
                row[first] = row[second] = 2;
                CHECK(argmax(row) == std::min(first, second));
                row[second] = std::numeric_limits<float>::quiet_NaN();
                CHECK(argmax(row) == -1);
            }
}

TEST_CASE("entries that differ in the last bit are no tie", "[kernels]") {
    CHECK(argmax(std::vector<float>{.5f, std::nextafter(.5f, 1.f)}) == 1);
    CHECK(argmax(std::vector<double>{.5, std::nextafter(.5, 1.)}) == 1);
}

TEMPLATE_TEST_CASE("an empty row and one of nothing but -inf have no largest entry", "[kernels]", float, double,
                   Eigen::half) {
    CHECK(argmax(std::vector<TestType>()) == -1);
    CHECK(argmax(to<TestType>({-infinity})) == -1);
    CHECK(argmax(to<TestType>({-infinity, -infinity, -infinity})) == -1);
    CHECK(argmax(to<TestType>({-infinity, -65504.f})) == 1);
}

TEST_CASE("strided rows and expressions have the argmax of their copies", "[kernels]") {
    Eigen::MatrixXf matrix(2, 4);
    matrix << 9, 9, 9, 9, 1, 4, 4, 2;
    CHECK(argmax(matrix.row(1)) == 1);
    CHECK(argmax(matrix.row(1) * -1.f) == 0);
}

TEST_CASE("a one-hot row is certain of its id, or of nothing for -1", "[kernels]") {
    const Eigen::VectorXd hot = one_hot<double>(3, 1);
    CHECK(hot == Eigen::Vector3d(0, 1, 0));
    CHECK(one_hot<float>(3, -1) == Eigen::Vector3f::Zero());
    CHECK(one_hot<float>(0, -1).size() == 0);
}

// as_row: every kind of vector that users hold, read as the same numbers, and in place where it has memory.
#include <specsample/core/row.hpp>

#include <array>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace specsample;

namespace {

template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
using ColumnMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

template <class Scalar>
Scalar scalar(Index i) {
    return static_cast<Scalar>(static_cast<float>(i));
}

/// 1, 2, 3, ...: exact in every scalar.
template <class Eigenlike>
Eigenlike counted(Eigenlike row) {
    for (Index i = 0; i < row.size(); ++i) row.data()[i] = scalar<typename Eigenlike::Scalar>(i + 1);
    return row;
}

template <class R>
std::vector<double> numbers(const R& row) {
    const auto view = detail::as_row(row);
    std::vector<double> result;
    for (Index i = 0; i < view.size(); ++i) result.push_back(static_cast<double>(view.coeff(i)));
    return result;
}

using Numbers = std::vector<double>;

/// True if the first two entries of the view are those of the memory.
template <class R, class Scalar>
bool in_place(const R& row, const Scalar* first, Index stride) {
    const auto view = detail::as_row(row);
    return view.data() == first && (view.size() < 2 || &view.coeffRef(1) == first + stride);
}

}  // namespace

#define EVERY_SCALAR float, double, Eigen::half, Eigen::bfloat16

TEMPLATE_TEST_CASE("columns, rows and arrays are seen in place", "[core]", EVERY_SCALAR) {
    const auto column = counted(Vector<TestType>(5));
    const auto row = counted(Eigen::Matrix<TestType, 1, Eigen::Dynamic>(5));
    const auto array = counted(Eigen::Array<TestType, Eigen::Dynamic, 1>(5));
    const auto row_array = counted(Eigen::Array<TestType, 1, Eigen::Dynamic>(5));
    const Numbers expected{1, 2, 3, 4, 5};
    CHECK(numbers(column) == expected);
    CHECK(numbers(row) == expected);
    CHECK(numbers(array) == expected);
    CHECK(numbers(row_array) == expected);
    CHECK(in_place(column, column.data(), 1));
    CHECK(in_place(row, row.data(), 1));
    CHECK(in_place(array, array.data(), 1));
    CHECK(in_place(row_array, row_array.data(), 1));
}

TEMPLATE_TEST_CASE("vectors of a size fixed at compile time are seen in place", "[core]", EVERY_SCALAR) {
    const auto column = counted(Eigen::Matrix<TestType, 3, 1>());
    const auto row = counted(Eigen::Array<TestType, 1, 3>());
    const auto one = counted(Eigen::Matrix<TestType, 1, 1>());
    CHECK(numbers(column) == Numbers{1, 2, 3});
    CHECK(numbers(row) == Numbers{1, 2, 3});
    CHECK(numbers(one) == Numbers{1});
    CHECK(in_place(column, column.data(), 1));
    CHECK(in_place(row, row.data(), 1));
    CHECK(in_place(one, one.data(), 1));
}

TEMPLATE_TEST_CASE("contiguous memory that knows its size is seen in place", "[core]", EVERY_SCALAR) {
    const std::vector<TestType> vector{scalar<TestType>(1), scalar<TestType>(2), scalar<TestType>(3)};
    const std::array<TestType, 2> array{scalar<TestType>(4), scalar<TestType>(5)};
    const TestType plain[] = {scalar<TestType>(6), scalar<TestType>(7)};
    std::vector<TestType> writable = vector;
    CHECK(numbers(vector) == Numbers{1, 2, 3});
    CHECK(numbers(std::span(vector)) == Numbers{1, 2, 3});
    CHECK(numbers(std::span(writable)) == Numbers{1, 2, 3});
    CHECK(numbers(std::span(array)) == Numbers{4, 5});
    CHECK(numbers(array) == Numbers{4, 5});
    CHECK(numbers(plain) == Numbers{6, 7});
    CHECK(in_place(vector, vector.data(), 1));
    CHECK(in_place(std::span(writable), writable.data(), 1));
    CHECK(in_place(std::span(vector).subspan(1), vector.data() + 1, 1));
    CHECK(in_place(array, array.data(), 1));
    CHECK(in_place(plain, plain, 1));
}

TEMPLATE_TEST_CASE("maps over an engine's memory are seen in place, at any alignment", "[core]", EVERY_SCALAR) {
    const auto memory = counted(Vector<TestType>(9));
    const Eigen::Map<const Vector<TestType>> map(memory.data(), 4), odd(memory.data() + 1, 4);
    CHECK(numbers(map) == Numbers{1, 2, 3, 4});
    CHECK(numbers(odd) == Numbers{2, 3, 4, 5});
    CHECK(in_place(map, memory.data(), 1));
    CHECK(in_place(odd, memory.data() + 1, 1));
    const Eigen::Ref<const Vector<TestType>> ref(memory);
    CHECK(in_place(ref, memory.data(), 1));
}

TEMPLATE_TEST_CASE("strided maps are seen in place, whether or not the stride is known", "[core]", EVERY_SCALAR) {
    const auto memory = counted(Vector<TestType>(9));
    const Eigen::Map<const Vector<TestType>, 0, Eigen::InnerStride<>> dynamic(memory.data(), 3,
                                                                              Eigen::InnerStride<>(4));
    const Eigen::Map<const Vector<TestType>, 0, Eigen::InnerStride<2>> fixed(memory.data() + 1, 4);
    CHECK(numbers(dynamic) == Numbers{1, 5, 9});
    CHECK(numbers(fixed) == Numbers{2, 4, 6, 8});
    CHECK(in_place(dynamic, memory.data(), 4));
    CHECK(in_place(fixed, memory.data() + 1, 2));
}

TEMPLATE_TEST_CASE("rows and columns of matrices of both layouts are seen in place", "[core]", EVERY_SCALAR) {
    const auto row_major = counted(RowMajorMatrix<TestType>(2, 3));
    const auto column_major = counted(ColumnMajor<TestType>(2, 3));
    CHECK(numbers(row_major.row(1)) == Numbers{4, 5, 6});
    CHECK(numbers(row_major.col(1)) == Numbers{2, 5});
    CHECK(numbers(column_major.row(1)) == Numbers{2, 4, 6});
    CHECK(numbers(column_major.col(1)) == Numbers{3, 4});
    CHECK(numbers(row_major.row(1).transpose()) == Numbers{4, 5, 6});
    CHECK(in_place(row_major.row(1), row_major.data() + 3, 1));
    CHECK(in_place(row_major.col(1), row_major.data() + 1, 3));
    CHECK(in_place(column_major.row(1), column_major.data() + 1, 2));
    CHECK(in_place(column_major.col(1), column_major.data() + 2, 1));
    CHECK(in_place(row_major.row(1).transpose(), row_major.data() + 3, 1));
}

TEMPLATE_TEST_CASE("segments are seen in place, strided ones too", "[core]", EVERY_SCALAR) {
    const auto memory = counted(Vector<TestType>(6));
    const auto matrix = counted(ColumnMajor<TestType>(2, 4));
    CHECK(numbers(memory.segment(2, 3)) == Numbers{3, 4, 5});
    CHECK(numbers(matrix.row(0).segment(1, 2)) == Numbers{3, 5});
    CHECK(numbers(memory.template tail<2>()) == Numbers{5, 6});
    CHECK(in_place(memory.segment(2, 3), memory.data() + 2, 1));
    CHECK(in_place(matrix.row(0).segment(1, 2), matrix.data() + 2, 2));
}

TEMPLATE_TEST_CASE("a logical vocabulary shorter than the row stride is seen in place", "[core]", EVERY_SCALAR) {
    const auto memory = counted(Vector<TestType>(8));
    const Eigen::Map<const RowMajorMatrix<TestType>, 0, Eigen::OuterStride<>> rows(memory.data(), 2, 3,
                                                                                   Eigen::OuterStride<>(4));
    CHECK(numbers(rows.row(1)) == Numbers{5, 6, 7});
    CHECK(in_place(rows.row(1), memory.data() + 4, 1));
}

TEMPLATE_TEST_CASE("expressions without memory keep their numbers", "[core]", EVERY_SCALAR) {
    const auto v = counted(Vector<TestType>(3));
    const auto matrix = counted(RowMajorMatrix<TestType>(2, 2));
    CHECK(numbers(v + v) == Numbers{2, 4, 6});
    CHECK(numbers((v + v).transpose()) == Numbers{2, 4, 6});
    CHECK(numbers(v.reverse()) == Numbers{3, 2, 1});
    CHECK(numbers((v + v).segment(1, 2)) == Numbers{4, 6});
    CHECK(numbers((matrix + matrix).row(1)) == Numbers{6, 8});
    CHECK(numbers(Vector<TestType>::Zero(2)) == Numbers{0, 0});
    CHECK(numbers(v.template cast<double>() * .5) == Numbers{.5, 1, 1.5});
}

TEST_CASE("a matrix's diagonal and a part of complex numbers are seen in place", "[core]") {
    const auto matrix = counted(ColumnMajor<double>(3, 3));
    CHECK(numbers(matrix.diagonal()) == Numbers{1, 5, 9});
    CHECK(in_place(matrix.diagonal(), matrix.data(), 4));
    Eigen::VectorXcd complex(2);
    complex << std::complex<double>(1, 2), std::complex<double>(3, 4);
    CHECK(numbers(complex.imag()) == Numbers{2, 4});
}

TEMPLATE_TEST_CASE("a projection over an array of structs is seen in place", "[core]", float, double) {
    struct Candidate {
        TestType logit;
        TestType probability;
    };
    const std::vector<Candidate> candidates{{3, 1}, {2, 5}, {1, 9}};
    const Eigen::Map<const Vector<TestType>, 0, Eigen::InnerStride<2>> probabilities(&candidates[0].probability, 3);
    CHECK(numbers(probabilities) == Numbers{1, 5, 9});
    CHECK(in_place(probabilities, &candidates[0].probability, 2));
}

TEST_CASE("rows without entries are rows", "[core]") {
    CHECK(detail::as_row(Eigen::VectorXf()).size() == 0);
    CHECK(detail::as_row(std::vector<double>()).size() == 0);
    CHECK(detail::as_row(std::array<float, 0>()).size() == 0);
    CHECK(detail::as_row(std::span<const float>()).size() == 0);
}

TEST_CASE("contiguous memory has one type of view, so that one kernel serves all of it", "[core]") {
    using View = detail::Column<float>;
    const auto is_view = []<class R>() { return std::is_same_v<detail::row_view_t<R>, View>; };
    CHECK(is_view.operator()<Eigen::VectorXf>());
    CHECK(is_view.operator()<Eigen::RowVectorXf>());
    CHECK(is_view.operator()<Eigen::Array3f>());
    CHECK(is_view.operator()<Eigen::Map<Eigen::VectorXf>>());
    CHECK(is_view.operator()<Eigen::Map<const Eigen::RowVectorXf>>());
    CHECK(is_view.operator()<std::vector<float>>());
    CHECK(is_view.operator()<std::array<float, 4>>());
    CHECK(is_view.operator()<std::span<const float>>());
    CHECK(is_view.operator()<decltype(RowMajorMatrix<float>().row(0))>());
    CHECK_FALSE(is_view.operator()<decltype(Eigen::MatrixXf().row(0))>());
    CHECK_FALSE(is_view.operator()<Eigen::VectorXd>());
    CHECK(std::is_same_v<detail::row_scalar_t<std::span<const Eigen::half>>, Eigen::half>);
}

// Types that are rows, and types that are not, in pairs.
static_assert(RowLike<Eigen::VectorXf> && !RowLike<Eigen::MatrixXf>);
static_assert(RowLike<Eigen::VectorXd> && !RowLike<Eigen::VectorXi> && !RowLike<Eigen::VectorXcf>);
static_assert(RowLike<const Eigen::RowVectorXf&> && RowLike<Eigen::VectorXf&&> && !RowLike<Eigen::VectorXf*>);
static_assert(RowLike<Eigen::Map<const Eigen::ArrayXf>> && !RowLike<Eigen::Map<const Eigen::ArrayXXf>>);
static_assert(RowLike<decltype(std::declval<Eigen::MatrixXf>().col(0))> &&
              !RowLike<decltype(std::declval<Eigen::MatrixXf>().block(0, 0, 1, 1))>);
static_assert(RowLike<decltype(Eigen::VectorXf() * .5f)> && !RowLike<decltype(Eigen::MatrixXf() * .5f)>);
static_assert(RowLike<Eigen::Matrix<Eigen::half, 4, 1>> && RowLike<Eigen::Matrix<Eigen::bfloat16, 1, 4>>);
static_assert(RowLike<std::vector<float>> && !RowLike<std::vector<int>> && !RowLike<std::vector<bool>>);
static_assert(RowLike<std::vector<Eigen::half>> && !RowLike<std::vector<std::vector<float>>>);
static_assert(RowLike<std::span<const double>> && !RowLike<std::span<const short>>);
static_assert(RowLike<std::array<float, 3>> && !RowLike<std::array<char, 3>> && RowLike<float[3]> && !RowLike<int[3]>);
static_assert(!RowLike<float> && !RowLike<float*> && !RowLike<void> && !RowLike<std::nullptr_t>);
static_assert(!RowLike<std::string> && !RowLike<std::list<float>> && !RowLike<std::deque<float>>);
static_assert(detail::Floating<float> && detail::Floating<Eigen::bfloat16> && !detail::Floating<int> &&
              !detail::Floating<std::complex<float>>);
static_assert(detail::Integer<Token> && detail::Integer<unsigned char> && detail::Integer<const long long> &&
              !detail::Integer<bool> && !detail::Integer<float> && !detail::Integer<LastToken>);

TEST_CASE("an array expression without memory is a row", "[core]") {
    const Eigen::ArrayXd v = Eigen::ArrayXd::LinSpaced(3, 1, 3);
    CHECK(detail::as_row(v * v)[2] == 9);
    CHECK(detail::as_row((v + v).transpose())[1] == 4);
}

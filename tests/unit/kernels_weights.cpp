// Weights: entries and sums against double references, over sizes on both sides of every block and lane boundary.
#include <specsample/kernels/weights.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <specsample/kernels/residual.hpp>
#include <specsample/random/rng.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;

namespace {

const std::vector<Index> sizes{0,   1,    2,    31,   32,   33,    63,     64,     65,     511,    512,
                               513, 1023, 1024, 1025, 5000, 32000, 128256, 262144, 300001, 1100000};

/// Uniform numbers in [0, 1), kept for all sizes.
const std::vector<double>& noise(std::uint64_t seed) {
    static std::vector<double> rows[2];
    std::vector<double>& row = rows[seed];
    while (row.size() < static_cast<std::size_t>(sizes.back()))
        row.push_back(Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(row.size())));
    return row;
}

/// The first numbers of that noise in a scalar, with every seventh entry zero.
template <class Scalar>
std::vector<Scalar> weights_of(Index size, std::uint64_t seed = 0) {
    std::vector<Scalar> row(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = i % 7 == 3 ? Scalar(0) : static_cast<Scalar>(static_cast<float>(noise(seed)[i]));
    return row;
}

/// Sums run in `Compute` over at most 16 lane steps, 5 halvings and 31 left-over entries per block: relative error
/// below 52 roundings in the worst case, and far below 1e-6 in float in practice.
template <class Scalar>
constexpr double tolerance = std::is_same_v<Scalar, double> ? 1e-13 : 1e-6;

template <class Scalar>
double reference(const std::vector<Scalar>& row, Index first, Index count) {
    long double sum = 0;
    for (Index i = first; i < first + count; ++i)
        sum += static_cast<long double>(static_cast<double>(row[static_cast<std::size_t>(i)]));
    return static_cast<double>(sum);
}

bool close(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

/// Every range that starts or ends around a lane or a block.
template <class F>
void for_ranges(Index size, F&& f) {
    for (const Index first : {0, 1, 31, 32, 33, 64, 511, 512, 513, 1000})
        for (const Index count : {0, 1, 2, 31, 32, 33, 64, 511, 512, 513, 1024, 1025})
            if (first + count <= size) f(first, count);
}

}  // namespace

TEMPLATE_TEST_CASE("the sum of a row agrees with a long double sum at every size", "[kernels]", float, double,
                   Eigen::half, Eigen::bfloat16) {
    for (const Index size : sizes) {
        const auto row = weights_of<TestType>(size);
        const auto view = detail::as_row(row);
        const RowWeights weights(view);
        INFO("size " << size);
        CHECK(weights.size() == size);
        CHECK(close(weights.sum(0, size), reference(row, 0, size), tolerance<TestType>));
    }
}

TEMPLATE_TEST_CASE("a misaligned row has the same sums as an aligned one", "[kernels]", float, double) {
    for (const Index size : sizes) {
        if (size < 2) continue;
        const auto row = weights_of<TestType>(size);
        for (const Index offset : {1, 3, 5}) {
            if (offset >= size) continue;
            const Eigen::Map<const Eigen::Array<TestType, Eigen::Dynamic, 1>> odd(row.data() + offset, size - offset);
            const RowWeights weights(odd);
            INFO("size " << size << ", offset " << offset);
            CHECK(close(weights.sum(0, size - offset), reference(row, offset, size - offset), tolerance<TestType>));
        }
    }
}

TEMPLATE_TEST_CASE("a strided row has exactly the sums and entries of a contiguous one", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : sizes) {
        const auto row = weights_of<TestType>(size);
        // Column-major: rows have stride 3. Nothing may point beyond a matrix of no columns.
        Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> matrix(3, std::max<Index>(size, 1));
        matrix.setConstant(static_cast<TestType>(7.f));
        for (Index i = 0; i < size; ++i) matrix(1, i) = row[static_cast<std::size_t>(i)];
        const auto contiguous = detail::as_row(row);
        const auto strided = detail::as_row(matrix.row(1).head(size));
        INFO("size " << size);
        CHECK(RowWeights(strided).sum(0, size) == RowWeights(contiguous).sum(0, size));
        if (size > 0) CHECK(RowWeights(strided)[size - 1] == RowWeights(contiguous)[size - 1]);
    }
}

TEMPLATE_TEST_CASE("sums over ranges agree with their references", "[kernels]", float, double, Eigen::half) {
    const auto row = weights_of<TestType>(3000), other = weights_of<TestType>(3000, 1);
    const auto view = detail::as_row(row), other_view = detail::as_row(other);
    std::vector<double> residual(3000), without(row.begin(), row.end());
    for (std::size_t i = 0; i < residual.size(); ++i)
        residual[i] = std::max(0., static_cast<double>(row[i]) - static_cast<double>(other[i]));
    const std::vector<Token> ids{2999, 512, 0, 513, 511};  // in any order
    for (const Token id : ids) without[static_cast<std::size_t>(id)] = 0;
    for_ranges(3000, [&](Index first, Index count) {
        INFO("[" << first << ", " << first + count << ")");
        CHECK(close(RowWeights(view).sum(first, count), reference(row, first, count), tolerance<TestType>));
        CHECK(close(ResidualWeights(view, other_view).sum(first, count), reference(residual, first, count),
                    tolerance<TestType>));
        CHECK(
            close(WithoutWeights(view, ids).sum(first, count), reference(without, first, count), tolerance<TestType>));
    });
}

TEMPLATE_TEST_CASE("entries are the very scalars stored, as doubles", "[kernels]", float, double, Eigen::half) {
    const auto row = weights_of<TestType>(100), other = weights_of<TestType>(100, 1);
    const auto view = detail::as_row(row), other_view = detail::as_row(other);
    const std::vector<Token> ids{40, 7};
    for (Index i = 0; i < 100; ++i) {
        const double p = static_cast<double>(row[static_cast<std::size_t>(i)]),
                     q = static_cast<double>(other[static_cast<std::size_t>(i)]);
        CHECK(RowWeights(view)[i] == p);
        CHECK(ResidualWeights(view, other_view)[i] == std::max(0., p - q));
        CHECK(WithoutWeights(view, ids)[i] == (i == 40 || i == 7 ? 0 : p));
    }
}

TEMPLATE_TEST_CASE("the residual's sum agrees with a long double sum at every size", "[kernels]", float, double,
                   Eigen::half) {
    for (const Index size : sizes) {
        const auto p = weights_of<TestType>(size), q = weights_of<TestType>(size, 1);
        std::vector<double> residual(p.size());
        for (std::size_t i = 0; i < p.size(); ++i)
            residual[i] = std::max(0., static_cast<double>(p[i]) - static_cast<double>(q[i]));
        const auto p_view = detail::as_row(p), q_view = detail::as_row(q);
        const ResidualWeights weights(p_view, q_view);
        INFO("size " << size);
        CHECK(weights.size() == size);
        CHECK(close(weights.sum(0, size), reference(residual, 0, size), tolerance<TestType>));
    }
}

TEST_CASE("rows of two precisions have the residual of the finer one", "[kernels]") {
    const auto p = weights_of<double>(5000);
    const auto q = weights_of<float>(5000, 1);
    const auto h = weights_of<Eigen::half>(5000, 1);
    const auto p_view = detail::as_row(p);
    const auto q_view = detail::as_row(q);
    const auto h_view = detail::as_row(h);
    std::vector<double> from_float(5000), from_half(5000);
    for (std::size_t i = 0; i < 5000; ++i) {
        from_float[i] = std::max(0., p[i] - static_cast<double>(q[i]));
        from_half[i] = std::max(0., static_cast<double>(q[i]) - static_cast<double>(h[i]));
    }
    CHECK(close(ResidualWeights(p_view, q_view).sum(0, 5000), reference(from_float, 0, 5000), 1e-13));
    CHECK(close(ResidualWeights(q_view, h_view).sum(0, 5000), reference(from_half, 0, 5000), 1e-6));
}

TEMPLATE_TEST_CASE("the residual of a row against itself sums to zero, not to a rounding error", "[kernels]", float,
                   double, Eigen::half) {
    const auto row = weights_of<TestType>(128256);
    const auto view = detail::as_row(row);
    CHECK(ResidualWeights(view, view).sum(0, 128256) == 0);
    const auto smaller = Eigen::Array<double, Eigen::Dynamic, 1>(view.template cast<double>() * .5);
    const auto smaller_view = detail::as_row(smaller);
    CHECK(ResidualWeights(smaller_view, view).sum(0, 128256) == 0);
}

TEMPLATE_TEST_CASE("a row without its only weight sums to zero, not to a rounding error", "[kernels]", float, double,
                   Eigen::half) {
    for (const Token id : {0, 1, 511, 512, 4999}) {
        std::vector<TestType> row(5000, TestType(0));
        const std::array ids{id}, next{(id + 1) % 5000};
        row[static_cast<std::size_t>(id)] = static_cast<TestType>(.9f);
        const auto view = detail::as_row(row);
        INFO("id " << id);
        CHECK(WithoutWeights(view, ids).sum(0, 5000) == 0);
        CHECK(WithoutWeights(view, next).sum(0, 5000) == static_cast<double>(row[static_cast<std::size_t>(id)]));
    }
}

TEMPLATE_TEST_CASE("a NaN or an infinity anywhere reaches the sum", "[kernels]", float, double, Eigen::half) {
    for (const Index size : {1, 5, 33, 513, 1100})
        for (const Index at : {Index{0}, size / 2, size - 1})
            for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
                auto row = weights_of<TestType>(size);
                const auto good = weights_of<TestType>(size, 1);
                row[static_cast<std::size_t>(at)] = static_cast<TestType>(bad);
                const auto view = detail::as_row(row), good_view = detail::as_row(good);
                INFO(bad << " at " << at << " of " << size);
                CHECK_FALSE(std::isfinite(RowWeights(view).sum(0, size)));
                CHECK_FALSE(std::isfinite(ResidualWeights(view, good_view).sum(0, size)));
                CHECK_FALSE(std::isfinite(ResidualWeights(good_view, view).sum(0, size)));
                const std::array next{static_cast<Token>((at + 1) % (size + 1))};
                CHECK_FALSE(std::isfinite(WithoutWeights(view, next).sum(0, size)));
            }
}

TEST_CASE("sums of a quarter of a million floats keep six digits, where a running float sum does not", "[kernels]") {
    const Index size = 262144;
    std::vector<float> row(static_cast<std::size_t>(size), 0.1f / static_cast<float>(size));
    row[0] = .9f;  // a running sum adds crumbs to this
    const auto view = detail::as_row(row);
    float running = 0;
    for (const float x : row) running += x;
    const double exact = reference(row, 0, size);
    CHECK(close(RowWeights(view).sum(0, size), exact, 1e-6));
    CHECK_FALSE(close(static_cast<double>(running), exact, 1e-5));
}

static_assert(Weights<RowWeights<detail::Column<float>>> && !Weights<detail::Column<float>>);
static_assert(Weights<ResidualWeights<detail::Column<float>, detail::StridedColumn<Eigen::half>>>);
static_assert(Weights<WithoutWeights<detail::Column<double>>> && !Weights<std::vector<double>>);

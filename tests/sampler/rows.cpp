// The row types that a model may return. One distribution gives one text, however its row is stored; all probabilities
// are multiples of 1/64, so that every scalar type holds them exactly.
#include <algorithm>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

constexpr Index vocab = 7;
const std::vector<Token> prompt{3};
constexpr Options options{.lookahead = 3, .seed = 5};

/// 64 equal shares, given to random tokens; some tokens get none.
Eigen::VectorXd shares(std::uint64_t seed, std::span<const Token> prefix) {
    for (const Token token : prefix) seed = Rng({.seed = seed, .position = token + 1}).bits();
    Eigen::VectorXd row = Eigen::VectorXd::Zero(vocab);
    for (std::uint32_t i = 0; i < 64; ++i) {
        const double u = Rng({.seed = seed}).uniform(i);
        row[static_cast<Index>(u * u * vocab)] += 1. / 64;
    }
    std::rotate(row.begin(), row.begin() + static_cast<Index>(seed % vocab), row.end());
    return row;
}

Eigen::VectorXd draft_row(std::span<const Token> prefix) { return shares(1, prefix); }
Eigen::VectorXd target_row(std::span<const Token> prefix) { return shares(2, prefix); }

template <class Draft, class Target>
std::vector<Token> text_of(Draft draft, Target target) {
    return Sampler(draft, target, options).generate(prompt, {.max_new_tokens = 60});
}

const std::vector<Token>& expected() {
    static const std::vector<Token> text = text_of(draft_row, target_row);
    return text;
}

/// A row in the storage R.
template <class R>
R stored(const Eigen::VectorXd& row) {
    R result(static_cast<std::size_t>(row.size()));
    for (Index i = 0; i < row.size(); ++i)
        result[static_cast<decltype(result.size())>(i)] = static_cast<std::remove_cvref_t<decltype(result[0])>>(row[i]);
    return result;
}

template <class R>
R draft_as(std::span<const Token> prefix) {
    return stored<R>(draft_row(prefix));
}
template <class R>
R target_as(std::span<const Token> prefix) {
    return stored<R>(target_row(prefix));
}

/// A row that some buffer holds, as a view of kind V.
template <class V, class Scalar>
struct Viewed {
    Eigen::VectorXd (*row)(std::span<const Token>);
    std::vector<Scalar> buffer = {};

    V operator()(std::span<const Token> prefix) {
        buffer = stored<std::vector<Scalar>>(row(prefix));
        return V(buffer.data(), static_cast<decltype(std::declval<V>().size())>(buffer.size()));
    }
};

/// Every other entry of a buffer.
struct Strided {
    using View = Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<2>>;
    std::vector<float> buffer = std::vector<float>(2 * vocab);

    View operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = draft_row(prefix);
        for (Index i = 0; i < vocab; ++i) buffer[static_cast<std::size_t>(2 * i)] = static_cast<float>(row[i]);
        return View(buffer.data(), vocab);
    }
};

/// Rows [n x vocab] of the last n positions.
template <class Matrix>
Matrix matrix(std::span<const Token> prefix, Index n) {
    Matrix rows(n, vocab);
    for (Index i = 0; i < n; ++i)
        rows.row(i) = target_row(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i)))
                          .transpose()
                          .template cast<typename Matrix::Scalar>();
    return rows;
}

template <class R>
std::vector<R> list(std::span<const Token> prefix, Index n) {
    std::vector<R> rows;
    for (Index i = 0; i < n; ++i)
        rows.push_back(target_as<R>(prefix.first(prefix.size() - static_cast<std::size_t>(n - 1 - i))));
    return rows;
}

/// Rows kept by the model, wider apart than the vocabulary, as engines pad them.
struct Padded {
    using View = Eigen::Map<const RowMajorMatrix<float>, 0, Eigen::OuterStride<>>;
    RowMajorMatrix<float> buffer = {};

    View operator()(std::span<const Token> prefix, Index n) {
        buffer = RowMajorMatrix<float>::Constant(n, vocab + 9, 1000);
        buffer.leftCols(vocab) = matrix<RowMajorMatrix<float>>(prefix, n);
        return View(buffer.data(), n, vocab, Eigen::OuterStride<>(vocab + 9));
    }
};

struct ByReference {
    RowMajorMatrix<double> rows = {};

    const RowMajorMatrix<double>& operator()(std::span<const Token> prefix, Index n) {
        return rows = matrix<RowMajorMatrix<double>>(prefix, n);
    }
};

template <class Scalar>
using Column = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

}  // namespace

TEST_CASE("the texts compared here have rejections, acceptances and every token") {
    Sampler sampler(draft_row, target_row, options);
    const Generation made = sampler.generate(prompt, {.max_new_tokens = 60});
    CHECK(made.tally.accepted > 5);
    CHECK(made.tally.recovered > 5);
    for (Token token = 0; token < vocab; ++token) CHECK(std::ranges::count(made.tokens, token) > 0);
}

TEMPLATE_TEST_CASE("rows by value in any storage are one text", "", Eigen::VectorXf, Eigen::VectorXd,
                   Eigen::RowVectorXf, Eigen::RowVectorXd, Eigen::ArrayXf, Eigen::ArrayXd, std::vector<float>,
                   std::vector<double>, Column<Eigen::half>, Column<Eigen::bfloat16>) {
    CHECK(text_of(draft_as<TestType>, target_as<TestType>) == expected());
}

TEMPLATE_TEST_CASE("draft and target may have different scalars", "", Eigen::VectorXf, Column<Eigen::half>,
                   Column<Eigen::bfloat16>) {
    CHECK(text_of(draft_as<TestType>, target_as<Eigen::VectorXd>) == expected());
    CHECK(text_of(draft_as<Eigen::VectorXd>, target_as<TestType>) == expected());
}

TEMPLATE_TEST_CASE("rows may be views of a buffer that each call reuses", "", float, double, Eigen::half) {
    using Map = Eigen::Map<const Column<TestType>>;
    CHECK(text_of(Viewed<Map, TestType>{draft_row}, Viewed<Map, TestType>{target_row}) == expected());
    using Span = std::span<const TestType>;
    CHECK(text_of(Viewed<Span, TestType>{draft_row}, Viewed<Span, TestType>{target_row}) == expected());
}

TEST_CASE("a view may be writable and have a stride") {
    CHECK(text_of(Viewed<Eigen::Map<Eigen::ArrayXf>, float>{draft_row}, target_row) == expected());
    CHECK(text_of(Viewed<std::span<float>, float>{draft_row}, target_row) == expected());
    CHECK(text_of(Strided{}, target_row) == expected());
}

TEMPLATE_TEST_CASE("many rows may be a row-major matrix", "", float, double, Eigen::half, Eigen::bfloat16) {
    CHECK(text_of(draft_row, matrix<RowMajorMatrix<TestType>>) == expected());
}

TEST_CASE("many rows may be a row-major array, or a matrix by reference") {
    using Array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    CHECK(text_of(draft_row, matrix<Array>) == expected());
    CHECK(text_of(draft_row, ByReference{}) == expected());
}

TEST_CASE("many rows may be a map of padded memory") { CHECK(text_of(draft_row, Padded{}) == expected()); }

TEMPLATE_TEST_CASE("many rows may be a list of rows", "", Eigen::VectorXf, Eigen::RowVectorXd, std::vector<float>,
                   Column<Eigen::half>) {
    CHECK(text_of(draft_row, list<TestType>) == expected());
}

// The arguments and results of a target.
#include <vector>

#include <specsample/sampler.hpp>
#include <specsample/specsample.hpp>

// case: target_returns_a_column_for_many
// A target that returns one Eigen vector where it is asked for n rows.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
namespace target_returns_a_column_for_many {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Prefix, Index) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_column_for_many

// case: target_returns_a_list_of_local_logits
// A target that returns a list of logits over rows with a name.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns logits of rows
// expect: rows that would be gone; write logits_of.std::move.rows., temperature
namespace target_returns_a_list_of_local_logits {

using specsample::Index;
using specsample::Logits;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return std::vector(static_cast<std::size_t>(n), Logits(Eigen::VectorXf(row), .8));
    };
#else
    const auto target = [](Prefix, Index n) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return std::vector(static_cast<std::size_t>(n), Logits(row, .8));
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_list_of_local_logits

// case: target_returns_a_map_of_column_major_rows
// A target that views rows which are not contiguous.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns a column-major
// matrix.*RowMajorMatrix<float>
namespace target_returns_a_map_of_column_major_rows {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        static const specsample::RowMajorMatrix<float> rows = specsample::RowMajorMatrix<float>::Constant(8, 4, .25f);
        return Eigen::Map<const specsample::RowMajorMatrix<float>>(rows.data(), n, 4);
    };
#else
    const auto target = [](Prefix, Index n) {
        static const Eigen::MatrixXf rows = Eigen::MatrixXf::Constant(8, 4, .25f);
        return Eigen::Map<const Eigen::MatrixXf>(rows.data(), n, 4);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_map_of_column_major_rows

// case: target_returns_a_matrix_expression
// A target that returns an expression over its own local rows.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
namespace target_returns_a_matrix_expression {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        const specsample::RowMajorMatrix<float> rows = specsample::RowMajorMatrix<float>::Constant(n, 4, .5f);
        return (rows * .5f).eval();
    };
#else
    const auto target = [](Prefix, Index n) {
        const specsample::RowMajorMatrix<float> rows = specsample::RowMajorMatrix<float>::Constant(n, 4, .5f);
        return rows * .5f;
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_matrix_expression

// case: target_returns_a_row_for_a_tree
// A target of trees that returns one row.
// expect: error: static assertion failed.*specsample::Sampler: target\(prefix, tree\) must return a row of
// probabilities
namespace target_returns_a_row_for_a_tree {

using namespace specsample;

int program() {
    const auto draft = [](std::span<const Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(2, .5f); };
#ifdef FIXED
    const auto target = [](std::span<const Token>, Tree<Token, Index> tree) {
        return RowMajorMatrix<float>(RowMajorMatrix<float>::Constant(std::ssize(tree.tokens) + 1, 2, .5f));
    };
#else
    const auto target = [](std::span<const Token>, Tree<Token, Index>) {
        return Eigen::VectorXf(Eigen::VectorXf::Constant(2, .5f));
    };
#endif
    Sampler sampler(draft, target);
    return static_cast<int>(sampler.generate({1, 0}).tokens.size());
}

}  // namespace target_returns_a_row_for_a_tree

// case: target_returns_a_row_for_many
// A target that returns one Eigen row vector where it is asked for n rows.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
namespace target_returns_a_row_for_many {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Prefix, Index) -> Eigen::RowVectorXf { return Eigen::RowVectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_row_for_many

// case: target_returns_a_string
// A target that returns text.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
namespace target_returns_a_string {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto target = [](Prefix) { return std::string("a token"); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_string

// case: target_returns_a_token
// A target that names its token: only a draft may.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
namespace target_returns_a_token {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto target = [](Prefix) -> Token { return 0; };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_a_token

// case: target_returns_an_expression
// A target that returns an expression over its own local row.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. returns an Eigen expression, .*\.eval
namespace target_returns_an_expression {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, .5f);
        return (row * .5f).eval();
    };
#else
    const auto target = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, .5f);
        return row * .5f;
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_an_expression

// case: target_returns_column_major_rows
// A target whose rows are not contiguous.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns a column-major
// matrix.*RowMajorMatrix<float>
namespace target_returns_column_major_rows {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Prefix, Index n) { return Eigen::MatrixXf(Eigen::MatrixXf::Constant(n, 4, .25f)); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_column_major_rows

// case: target_returns_logits_of_a_local
// A target that returns logits over its own named row.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
namespace target_returns_logits_of_a_local {

using specsample::Logits;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) {
        std::vector<float> row(4, 2);
        return Logits(std::move(row), .8);
    };
#else
    const auto target = [](Prefix) {
        std::vector<float> row(4, 2);
        return Logits(row, .8);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_logits_of_a_local

// case: target_returns_logits_of_local_rows
// A target that returns logits over its own matrix with a name.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. returns logits of rows
// expect: rows that would be gone; write logits_of.std::move.rows., temperature
namespace target_returns_logits_of_local_rows {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        specsample::RowMajorMatrix<float> rows = specsample::RowMajorMatrix<float>::Constant(n, 4, 2);
        return specsample::logits_of(std::move(rows), .8);
    };
#else
    const auto target = [](Prefix, Index n) {
        specsample::RowMajorMatrix<float> rows = specsample::RowMajorMatrix<float>::Constant(n, 4, 2);
        return specsample::logits_of(rows, .8);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_logits_of_local_rows

// case: target_returns_nothing
// A target that forgets to return its row.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. must return a row of probabilities
namespace target_returns_nothing {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto target = [](Prefix) {};
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_nothing

// case: target_returns_one_vector_for_many
// A target that returns one row where it is asked for n.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
namespace target_returns_one_vector_for_many {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) {
        return std::vector<std::vector<float>>(static_cast<std::size_t>(n), {.25f, .25f, .25f, .25f});
    };
#else
    const auto target = [](Prefix, Index) { return std::vector<float>(4, .25f); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_one_vector_for_many

// case: target_returns_rows_of_integers
// A target that returns integers.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix, n. must return n rows of probabilities
namespace target_returns_rows_of_integers {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<int> {
        return specsample::RowMajorMatrix<int>::Constant(n, 4, 1);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_rows_of_integers

// case: target_returns_sparse_of_locals
// A target that returns a sparse row of logits over its own named row.
// expect: error: static assertion failed.*specsample::Sampler: target.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
namespace target_returns_sparse_of_locals {

using specsample::Logits;
using specsample::Sparse;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) {
        std::vector<float> row{1, 2};
        return Sparse(std::vector<int>{1, 3}, Logits(std::move(row), .8), 4);
    };
#else
    const auto target = [](Prefix) {
        std::vector<float> row{1, 2};
        return Sparse(std::vector<int>{1, 3}, Logits(row, .8), 4);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_returns_sparse_of_locals

// case: target_takes_nothing
// A target that does not take the prefix.
// expect: error: static assertion failed.*specsample::Sampler: target must be callable with a token prefix, or with a
// prefix and a count
namespace target_takes_nothing {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto target = []() -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_takes_nothing

// case: target_takes_the_count_first
// A target with its arguments the wrong way round.
// expect: error: static assertion failed.*specsample::Sampler: target must be callable with a token prefix, or with a
// prefix and a count
namespace target_takes_the_count_first {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto target = [](Prefix, Index n) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#else
    const auto target = [](Index n, Prefix) -> specsample::RowMajorMatrix<float> {
        return specsample::RowMajorMatrix<float>::Constant(n, 4, .25f);
    };
#endif
    specsample::Sampler sampler(good, target);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace target_takes_the_count_first

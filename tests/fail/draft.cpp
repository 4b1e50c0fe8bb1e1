// The arguments and results of a draft.
#include <specsample/sampler.hpp>
#include <specsample/specsample.hpp>

// case: draft_returns_a_matrix
// A draft that returns a matrix of one row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities .*, or
// a Token
namespace draft_returns_a_matrix {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](Prefix) { return specsample::RowMajorMatrix<float>(1, 4); };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_a_matrix

// case: draft_returns_a_pointer
// A draft that returns a pointer, which has no size.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities .*, or
// a Token
namespace draft_returns_a_pointer {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> int { return 0; };
#else
    const auto draft = [](Prefix) -> const int* { return nullptr; };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_a_pointer

// case: draft_returns_a_segment
// A draft that returns a part of its own local row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns an Eigen expression, .*\.eval
namespace draft_returns_a_segment {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(8, .25f);
        return row.head(4).eval();
    };
#else
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(8, .25f);
        return row.head(4);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_a_segment

// case: draft_returns_a_string
// A draft that returns text.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities .*, or
// a Token
namespace draft_returns_a_string {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](Prefix) { return std::string("a token"); };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_a_string

// case: draft_returns_an_array_expression
// A draft that returns an expression of arrays.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns an Eigen expression, .*\.eval
namespace draft_returns_an_array_expression {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::ArrayXf {
        const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(4, .5f);
        return row * row;
    };
#else
    const auto draft = [](Prefix) {
        const Eigen::ArrayXf row = Eigen::ArrayXf::Constant(4, .5f);
        return row * row;
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_an_array_expression

// case: draft_returns_an_expression
// A draft that returns an expression over its own local row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns an Eigen expression, .*\.eval
namespace draft_returns_an_expression {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, .5f);
        return (row * .5f).eval();
    };
#else
    const auto draft = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, .5f);
        return row * .5f;
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_an_expression

// case: draft_returns_integers
// A draft that returns a vector of integers.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities .*, or
// a Token
namespace draft_returns_integers {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) { return std::vector<float>{0, 1}; };
#else
    const auto draft = [](Prefix) { return std::vector<int>{0, 1}; };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_integers

// case: draft_returns_logits_of_a_local
// A draft that returns logits over its own named row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
namespace draft_returns_logits_of_a_local {

using specsample::Logits;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits(std::move(row), .8);
    };
#else
    const auto draft = [](Prefix) {
        Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits(row, .8);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_logits_of_a_local

// case: draft_returns_logits_of_an_expression
// A draft that returns logits over an expression of its own row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
namespace draft_returns_logits_of_an_expression {

using specsample::Logits;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits((row * 2).eval(), .8);
    };
#else
    const auto draft = [](Prefix) {
        const Eigen::VectorXf row = Eigen::VectorXf::Constant(4, 2);
        return Logits(row * 2, .8);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_logits_of_an_expression

// case: draft_returns_nothing
// A draft that forgets to return its row.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. must return a row of probabilities .*, or
// a Token
namespace draft_returns_nothing {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](Prefix) {};
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_nothing

// case: draft_returns_sparse_of_locals
// A draft that returns a sparse row over its own named ids.
// expect: error: static assertion failed.*specsample::Sampler: draft.prefix. returns Logits or Sparse
// expect: row that would be gone; write Logits.std::move.row., temperature
namespace draft_returns_sparse_of_locals {

using specsample::Sparse;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) {
        std::vector<int> ids{1, 3};
        return Sparse(std::move(ids), std::vector<float>{.5f, .5f}, 4);
    };
#else
    const auto draft = [](Prefix) {
        std::vector<int> ids{1, 3};
        return Sparse(ids, std::vector<float>{.5f, .5f}, 4);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_returns_sparse_of_locals

// case: draft_takes_a_prefix_of_int64
// A draft that takes wider tokens than the library's.
// expect: error: static assertion failed.*specsample::Sampler: draft must be callable with a token prefix; write
namespace draft_takes_a_prefix_of_int64 {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](std::span<const std::int64_t>) -> Eigen::VectorXf {
        return Eigen::VectorXf::Constant(4, .25f);
    };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_takes_a_prefix_of_int64

// case: draft_takes_a_writable_prefix
// A draft that wants to write to the prefix.
// expect: error: static assertion failed.*specsample::Sampler: draft must be callable with a token prefix; write
namespace draft_takes_a_writable_prefix {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = [](std::span<Token>) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_takes_a_writable_prefix

// case: draft_takes_nothing
// A draft that does not take the prefix.
// expect: error: static assertion failed.*specsample::Sampler: draft must be callable with a token prefix; write
namespace draft_takes_nothing {

using specsample::Index;
using specsample::Token;
using Prefix = std::span<const Token>;

int program() {
    const auto good = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#ifdef FIXED
    const auto draft = [](Prefix) -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#else
    const auto draft = []() -> Eigen::VectorXf { return Eigen::VectorXf::Constant(4, .25f); };
#endif
    specsample::Sampler sampler(draft, good);
    return static_cast<int>(sampler.generate({1, 2, 3}).tokens.size());
}

}  // namespace draft_takes_nothing

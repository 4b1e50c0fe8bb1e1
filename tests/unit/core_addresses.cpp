// Where memory comes from a user: an address that holds nothing, a count that is no count and sizes that no memory has
// are refused by name, before anything is read.
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/length.hpp>
#include <specsample/tree.hpp>
#include <specsample/verify/batch.hpp>
#include <specsample/vocabularies.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr Index huge = std::numeric_limits<Index>::max();
const std::vector<double> probs{.5, .5};

/// A list of `size` elements at null, as an engine has before its first allocation.
template <class T>
std::span<T> at_null(std::size_t size = 3) {
    return {static_cast<T*>(nullptr), size};
}

/// A float at an address that no float may have.
const float* off_by_one(const std::vector<float>& numbers) {
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(numbers.data()) + 1);
}

auto refusal(const std::string& text) { return ContainsSubstring(text); }

struct Candidate {
    Token id;
    float p;
};

struct Judged {
    RoundLimits limits = {};
    Workspace workspace = {};

    template <class Tokens, class Rows>
    Round operator()(const Tokens& tokens, const Rows& rows) {
        return verify(tokens, PointMass{}, rows, TokenVerification{}, RoundRng(1, 0, 0), limits, workspace);
    }
};

}  // namespace

TEST_CASE("rows in memory are refused by the name of what is wrong", "[core]") {
    const std::vector<float> numbers(12, .25f);
    const auto rows = [](auto... arguments) { return rows_in_memory(arguments...); };
    CHECK_THROWS_WITH(rows(static_cast<const float*>(nullptr), 3, 4),
                      refusal("specsample::rows_in_memory: data is null, but must be the address of 3"));
    CHECK_THROWS_WITH(rows(static_cast<const Eigen::half*>(nullptr), 1, 4, 4), refusal("data is null"));
    CHECK_THROWS_WITH(rows(off_by_one(numbers), 2, 4),
                      refusal("rows_in_memory: data is at an address that is no multiple of 4"));
    CHECK_THROWS_WITH(rows(numbers.data(), -1, 4), refusal("count is -1"));
    CHECK_THROWS_WITH(rows(numbers.data(), 3, 0), refusal("vocab is 0"));
    CHECK_THROWS_WITH(rows(numbers.data(), 3, -4), refusal("vocab is -4"));
    CHECK_THROWS_WITH(rows(numbers.data(), 3, 4, 3), refusal("stride is 3"));
    CHECK_THROWS_WITH(rows(numbers.data(), 3, 4, -4), refusal("stride is -4"));
    CHECK_THROWS_WITH(rows(numbers.data(), huge, 4), refusal("rows_in_memory: count is 9223372036854775807"));
    CHECK_THROWS_WITH(rows(numbers.data(), 1, 4, huge), refusal("count is 1, but must be at most 0"));
    CHECK_THROWS_WITH(rows(numbers.data(), Index{1} << 32, Index{1} << 31), refusal("count is 4294967296"));
    CHECK(rows(static_cast<const float*>(nullptr), 0, 4).rows() == 0);
    CHECK(rows(numbers.data(), 3, 4).rows() == 3);
    CHECK(rows(numbers.data(), 2, 4, 8).rows() == 2);
}

TEST_CASE("a row at null is refused wherever it is read", "[core]") {
    const auto row = at_null<const float>();
    const auto logits = at_null<const Eigen::half>();
    const Eigen::Map<const Eigen::VectorXd> map(nullptr, 0);
    const Rng rng({.seed = 1});
    const std::vector<Token> ids{0, 1, 2};
    const std::string text = "specsample::Row: the address of a row is null, but must be the address of 3";
    CHECK_THROWS_WITH(draw(rng, row), refusal(text));
    CHECK_THROWS_WITH(race(rng, row), refusal(text));
    CHECK_THROWS_WITH(draw(rng, Logits(logits, .5)), refusal(text));
    CHECK_THROWS_WITH(race(rng, Logits(logits, .5)), refusal(text));
    CHECK_THROWS_WITH(kernels::argmax(row), refusal(text));
    CHECK_THROWS_WITH(draw(rng, Sparse(ids, row, 9)), refusal(text));
    CHECK_THROWS_WITH(draw(rng, Sparse(at_null<const Token>(2), probs, 9)),
                      refusal("specsample::Sparse: the address of the ids is null, but must be the address of 2"));
    CHECK_THROWS_WITH(Sparse(std::vector<Token>{}, std::vector<double>{}, -3), refusal("Sparse: vocab is -3"));
    CHECK(draw(rng, map).index == -1);
    CHECK(draw(rng, at_null<const float>(0)).index == -1);

    Judged judged;
    const std::vector rows{row, row};
    CHECK_THROWS_WITH(judged(std::vector<Token>{1}, rows), refusal(text));
    Sampler sampler([=](std::span<const Token>) { return row; }, [=](std::span<const Token>) { return row; },
                    {.lookahead = 2});
    CHECK_THROWS_WITH(sampler.generate({1}), refusal(text));
    CHECK_THROWS_WITH(sampler.step(std::vector<Token>{1}), refusal(text));
}

TEST_CASE("a row at an address that is not aligned is refused", "[core]") {
    const std::vector<float> numbers(4, .25f);
    const Eigen::Map<const Eigen::VectorXf> row(off_by_one(numbers), 3);
    CHECK_THROWS_WITH(draw(Rng({.seed = 1}), row),
                      refusal("the address of a row is at an address that is no multiple of 4"));
}

TEST_CASE("lists at null are refused by name", "[core]") {
    const auto tokens = at_null<const Token>();
    Judged judged;
    const Eigen::MatrixXd rows = Eigen::MatrixXd::Constant(4, 2, .5);
    CHECK_THROWS_WITH(judged(tokens, rows), refusal("specsample::verify: tokens is null"));
    CHECK_THROWS_WITH((RoundLimits{.stop_tokens = tokens}),
                      refusal("specsample::ListRef: the address of a list is null"));
    CHECK_THROWS_WITH((Tree<Token, Token>{tokens, tokens}), refusal("the address of a list is null"));
    CHECK_THROWS_WITH(member(at_null<const Candidate>(), &Candidate::p), refusal("the address of a list is null"));
    CHECK(member(at_null<const Candidate>(0), &Candidate::p).size() == 0);

    Sampler sampler([](std::span<const Token>) { return probs; }, [](std::span<const Token>) { return probs; },
                    {.lookahead = 2});
    CHECK_THROWS_WITH(sampler.generate(tokens), refusal("specsample::Sampler: prompt is null"));
    CHECK_THROWS_WITH(sampler.step(tokens), refusal("specsample::Sampler: text is null"));

    CHECK_THROWS_WITH(vocabularies::IdMap(tokens, 4), refusal("specsample::IdMap: to_target is null"));
    CHECK_THROWS_WITH(vocabularies::IdMap::from_offsets(tokens, 4), refusal("specsample::IdMap: offsets is null"));
    CHECK_THROWS_WITH(vocabularies::IdMap::same_ids(-1, 4), refusal("IdMap"));
    CHECK_THROWS_WITH(race(Rng({.seed = 1}), probs, at_null<Token>(1)), refusal("specsample::race: winners is null"));
    CHECK_THROWS_WITH(kernels::top_ids(probs, at_null<Token>(1)), refusal("specsample::top_ids: top is null"));

    const std::vector<Round> rounds(3);
    CHECK_THROWS_WITH(write_padded(rounds, at_null<int>(6)), refusal("specsample::write_padded: ids is null"));

    std::array<int, 3> out{};
    const std::array parents{-1, 0, 0};
    CHECK_THROWS_WITH(attention::position_ids(at_null<const int>(), 5, out), refusal("position_ids: parents is null"));
    CHECK_THROWS_WITH(attention::position_ids(parents, 5, at_null<int>()), refusal("position_ids: positions is null"));
    CHECK_THROWS_WITH(attention::ancestor_bits(parents, at_null<std::uint64_t>()), refusal("words is null"));
    CHECK_THROWS_WITH(attention::leaf_paths(at_null<const int>()), refusal("leaf_paths: parents is null"));
    CHECK_THROWS_WITH(attention::with_root(parents, at_null<int>(4)), refusal("with_root: rooted is null"));

    const auto target = [](std::span<const Token>) { return probs; };
    const auto masked =
        shaped(target, filters::TokenMask{[](std::span<const Token>) { return at_null<const std::uint32_t>(1); }});
    Sampler of_masked(target, masked, {.lookahead = 1});
    CHECK_THROWS_WITH(of_masked.generate({1}), refusal("TokenMask: the address of the words is null"));

    struct Cursor {
        auto mask() const { return at_null<const std::uint32_t>(1); }
        void accept(Token) {}
    };
    filters::ShapedMemory<double> memory;
    CHECK_THROWS_WITH(shape(Eigen::ArrayXd(Eigen::Array4d::Constant(.25)), Grammar(Cursor{}), {}, memory),
                      refusal("Grammar: the address of the words is null"));
}

TEST_CASE("sizes that no memory has do not wrap around", "[core]") {
    std::array<Index, 4> lookaheads{};
    const auto cost = [](Index) { return 1.; };
    CHECK_THROWS_WITH(theory::best_lookaheads(std::span<const double>(), Index{1} << 62, .1, cost, lookaheads),
                      refusal("size of acceptance is 0"));
    const Eigen::MatrixXd rows = Eigen::MatrixXd::Constant(4, 2, .5);
    CHECK_THROWS_WITH(slice(rows, 0, huge), refusal("slice: end is 9223372036854775807"));
    CHECK_THROWS_WITH(slice(rows, std::numeric_limits<Index>::min(), 2),
                      refusal("slice: begin is -9223372036854775808"));
    CHECK_THROWS_WITH(slice(rows, 3, 2), refusal("slice: end is 2"));
    const auto rows_by_call = [&](Index i) { return rows.row(i); };
    CHECK_THROWS_WITH(slice(rows_by_call, -1, 2), refusal("slice: begin is -1"));
}

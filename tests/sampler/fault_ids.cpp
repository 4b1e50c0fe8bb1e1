// Ids outside the vocabulary, rows that do not match it, and counts that do not match the round.
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::kernels;
using namespace specsample::testing;

namespace {

const ContextModel draft(5, 111), target(5, 112);
const std::vector<Token> prompt{1, 2};

/// Drafts `last` at this place of the text, and 0 before.
struct Names {
    std::int64_t last;
    std::size_t at;

    std::int64_t operator()(std::span<const Token> prefix) const { return prefix.size() < at ? 0 : last; }
};

/// Fails where a prefix has an id outside its vocabulary, as an embedding table would.
struct Embedding {
    ContextModel model;

    RowMajorMatrix<double> operator()(std::span<const Token> prefix, Index n) const {
        for (const Token token : prefix)
            if (token < 0 || token >= 5) throw std::logic_error("the target was shown " + std::to_string(token));
        return model(prefix, n);
    }
};

}  // namespace

TEST_CASE("a draft ends before a token outside the vocabulary, in the first round as in any other") {
    for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{5}, std::int64_t{1} << 31, std::int64_t{1} << 40})
        for (std::size_t place = 0; place < 3; ++place) {
            const auto plain = [](std::span<const Token> prefix) { return target(prefix); };
            for (int round = 0; round < 2; ++round) {
                Sampler one(Names{id, 2 + place}, plain, {.lookahead = 3});
                Sampler many(Names{id, 2 + place}, target, {.lookahead = 3});
                if (round == 1) {
                    (void)one.generate({0}, {.max_new_tokens = 1});
                    (void)many.generate({0}, {.max_new_tokens = 1});
                }
                CHECK(one.step(prompt).proposed == static_cast<Index>(place));
                CHECK(many.step(prompt).proposed == static_cast<Index>(place));
            }
        }
}

TEST_CASE("the row that an unknown id in the first round costs is counted, and costs no token") {
    Sampler sampler(Names{5, 3}, target, {.lookahead = 3});
    const Round round = sampler.step(prompt);
    CHECK(round.proposed == 1);
    CHECK(round.passes == 2);
    CHECK(sampler.step(prompt).passes == 1);
    for (const Token id : {-1, 5})
        CHECK(distance_from_target(TokenVerification{}, Names{id, 1}, target, 2, all_texts(5, 1)) < 1e-12);
}

TEST_CASE("a target whose vocabulary is known is never shown an id outside it") {
    Sampler sampler(Names{7, 40}, Embedding{target}, {.lookahead = 3});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 60}).tokens.size() == 60);
}

TEST_CASE("no id below 0 is shown to the target, in the first round either") {
    Sampler sampler(Names{-1, 2}, Embedding{target}, {.lookahead = 3});
    CHECK(sampler.generate(prompt, {.max_new_tokens = 20}).tokens.size() == 20);
}

TEST_CASE("a stop token outside the vocabulary is named with its place in the limits") {
    Sampler sampler(draft, target);
    CHECK_THROWS_WITH(
        sampler.generate(prompt, {.stop_tokens = {4, 5}}),
        ContainsSubstring("specsample::Sampler: limits.stop_tokens[1] is 5, but must be inside the vocabulary [0, 5)"));
    CHECK_THROWS_WITH(sampler.generate(prompt, {.stop_tokens = {-1}}),
                      ContainsSubstring("limits.stop_tokens[0] is -1, but must be inside the vocabulary [0, 5)"));
}

TEST_CASE("a draft with another vocabulary than the target's is named, larger or smaller") {
    const Index size = GENERATE(3, 9);
    const auto other = [size](std::span<const Token>) -> Eigen::VectorXd { return one_hot<double>(size, 2); };
    CHECK_THROWS_WITH(Sampler(other, target).step(prompt),
                      ContainsSubstring("draft row 0 has " + std::to_string(size) +
                                        " entries, but must have 5 like the first target row"));
}

TEST_CASE("an empty vocabulary is a fault, in every form of a target") {
    const auto row = [](std::span<const Token>) { return std::vector<float>(); };
    const auto matrix = [](std::span<const Token>, Index n) { return RowMajorMatrix<float>(n, 0); };
    const auto list = [](std::span<const Token>, Index n) {
        return std::vector<std::vector<float>>(static_cast<std::size_t>(n));
    };
    const std::string sentence = "target row 0 is empty, but must hold one probability per token of the vocabulary";
    const Index lookahead = GENERATE(0, 2);
    CHECK_THROWS_WITH(Sampler(draft, row, {.lookahead = lookahead}).step(prompt), ContainsSubstring(sentence));
    CHECK_THROWS_WITH(Sampler(draft, matrix, {.lookahead = lookahead}).step(prompt), ContainsSubstring(sentence));
    CHECK_THROWS_WITH(Sampler(draft, list, {.lookahead = lookahead}).step(prompt), ContainsSubstring(sentence));
}

TEST_CASE("a target that returns fewer or more rows than asked for is a fault") {
    const Index extra = GENERATE(-3, -1, 1, 4);
    const auto scorer = [extra](std::span<const Token>, Index n) {
        return RowMajorMatrix<double>(RowMajorMatrix<double>::Constant(n + extra, 5, 0.2));
    };
    Sampler sampler(draft, scorer, {.lookahead = 3});
    CHECK_THROWS_WITH(sampler.step(prompt),
                      ContainsSubstring("the number of target rows is " + std::to_string(4 + extra) +
                                        ", but must be 4, one per position"));
}

// What a user writes in the first hour, and what he is told where it is wrong.
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace specsample::testing;

namespace {

const ContextModel draft(5, 51), target(5, 52);

/// Drafts nothing, and writes down what it is told of the vocabulary.
struct Asked {
    using Distribution = PointMass;
    std::vector<Index>& vocabs;

    void propose(std::span<const Token>, const auto&, auto& draft_tree) { vocabs.push_back(draft_tree.vocab()); }
};

bool ends_at_three(std::span<const Token> tokens) { return tokens.size() == 3; }

}  // namespace

TEST_CASE("a generated text is a range of its tokens") {
    Sampler sampler(draft, target, {.seed = 8});
    const auto text = sampler.generate({1, 2}, {.max_new_tokens = 9});
    CHECK(text.size() == 9);
    CHECK(!text.empty());
    CHECK(std::vector<Token>(text.begin(), text.end()) == text.tokens);
    CHECK(std::equal(text.begin(), text.end(), text.data()));
    CHECK((text.front() == text[0] && text.back() == text[8u]));
    CHECK(std::span<const Token>(text).size() == 9);
    std::vector<Token> one_by_one;
    for (const Token token : sampler.generate({1, 2}, {.max_new_tokens = 9})) one_by_one.push_back(token);
    CHECK(one_by_one == text.tokens);
    CHECK(sampler.generate(text, {.max_new_tokens = 2}).size() == 2);  // a text is a prompt
    CHECK(sampler.generate({1, 2}, {.max_new_tokens = 0}).empty());
}

TEST_CASE("a text may have a seed of its own, of 64 bits, in every call") {
    Sampler sampler(draft, target, {.seed = 8}), other(draft, target, {.seed = 3});
    const std::vector<Token> prompt{1, 2};
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 63}) {
        Sampler alone(draft, target, {.seed = seed});
        const std::vector<Token> expected = alone.generate(prompt, {.max_new_tokens = 20, .request = 4});
        for (auto* shared : {&sampler, &other}) {
            const Limits limits{.max_new_tokens = 20, .request = 4, .seed = seed};
            CHECK(shared->generate(prompt, limits).tokens == expected);
            std::vector<Token> text = prompt;
            (void)shared->extend(text, limits);
            CHECK(std::vector(text.begin() + 2, text.end()) == expected);
            const Round round = shared->step(prompt, limits);
            CHECK(std::equal(round.tokens.begin(), round.tokens.end(), expected.begin()));
        }
    }
    CHECK(sampler.generate(prompt, {.max_new_tokens = 20}).tokens !=
          other.generate(prompt, {.max_new_tokens = 20}).tokens);
}

TEST_CASE("prompts are contiguous ids of any integral type") {
    Sampler sampler(draft, target, {.seed = 8});
    const Limits limits{.max_new_tokens = 5};
    const std::vector<Token> text = sampler.generate({1, 2, 3}, limits);
    const int array[3] = {1, 2, 3};
    const unsigned long long longs[3] = {1, 2, 3};
    const std::array<std::uint8_t, 3> bytes{1, 2, 3};
    CHECK(sampler.generate(array, limits).tokens == text);
    CHECK(sampler.generate(longs, limits).tokens == text);
    CHECK(sampler.generate(bytes, limits).tokens == text);
    CHECK(sampler.generate(std::span(array), limits).tokens == text);
}

TEST_CASE("a predicate that returns true ends the text with the last token, as one that includes it does") {
    Sampler sampler(draft, target, {.seed = 8});
    const auto includes = [](std::span<const Token> tokens) {
        return tokens.size() == 3 ? StopDecision::include : StopDecision::go_on;
    };
    const auto is_true = [](std::span<const Token> tokens) { return tokens.size() == 3; };
    const Generation text = sampler.generate({1}, {.until = is_true});
    CHECK(text.finish == FinishReason::until);
    CHECK(text.tokens == sampler.generate({1}, {.until = includes}).tokens);
    CHECK(text.tokens == sampler.generate({1}, {.until = ends_at_three}).tokens);  // a function, too
    CHECK(text.size() == 3);

    const auto at_once = [](std::span<const Token>) { return true; };
    const std::vector<Token> prompt{1};
    const Round round = sampler.step(prompt, {.until = at_once});
    CHECK(round.end == RoundEnd::included);
    CHECK(round.tokens.size() == 1);
}

TEST_CASE("rows of logits are indexed by any integral type") {
    const std::vector<std::vector<float>> rows{{1, 2}, {3, 4}};
    const auto logits = logits_of(rows, .5);
    CHECK(logits[Index{1}].size() == 2);
    CHECK(logits[1].numbers()[0] == 3);
    CHECK(logits[1u].temperature() == .5);
}

TEST_CASE("a request that does not fit is called by the name of its limit") {
    Sampler sampler(draft, target);
    const Limits limits{.request = std::uint64_t{1} << 32};
    const std::string name = "specsample::Sampler: limits.request is 4294967296, but must be below 2^32";
    const std::vector<Token> prompt{1};
    CHECK_THROWS_WITH(sampler.generate(prompt, limits), name);
    CHECK_THROWS_WITH(sampler.step(prompt, limits), name);
}

TEST_CASE("a drafted id is called no id where the vocabulary is not known yet") {
    const RowFault fault{.side = Side::draft,
                         .cause = Cause::outside_vocabulary,
                         .row = 1,
                         .value = -1,
                         .bound = std::numeric_limits<Token>::max()};
    CHECK(message(fault) == "drafted token 1 is -1, but must be a token id, at least 0 and of 31 bits");
}

TEST_CASE("two vocabularies are told how to be joined") {
    Sampler sampler(ContextModel(8, 1), target);
    CHECK_THROWS_WITH(sampler.generate({1}),
                      ContainsSubstring("vocabularies::mapped and vocabularies::IdMap::same_ids"));
    Sampler smaller(ContextModel(3, 1), target);
    CHECK_THROWS_WITH(smaller.generate({1}), ContainsSubstring("same_ids(3, 5)"));
}

TEMPLATE_TEST_CASE("a drafter knows the vocabulary from the second round on, however the target is called", "",
                   TokenVerification, BlockVerification, SampleMatch) {
    const auto told = [](const auto& model) {
        std::vector<Index> vocabs;
        (void)Sampler(Asked{vocabs}, model, {}, TestType{}).generate({1}, {.max_new_tokens = 3});
        return vocabs;
    };
    const std::vector<Index> known{std::numeric_limits<Token>::max(), 5, 5};
    CHECK(told(target) == known);
    CHECK(told([](std::span<const Token> prefix) { return target(prefix); }) == known);
}

// Penalties and masks wait until a row's numbers are needed: the same rows as if they were applied at once.
#include <specsample/shaping/lowering.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <vector>

#include <specsample/shaping.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace filters;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Asks for all numbers, so that nothing waits any longer.
struct Now {
    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        row.numbers();
    }
};

/// What is left of a row: ids and numbers.
template <class Value>
struct Left {
    std::vector<Index> ids;
    std::vector<Value> numbers;
    bool operator==(const Left&) const = default;
};

template <class Row>
auto left_of(const Row& row) {
    using Value = typename std::remove_cvref_t<decltype(detail::numbers_of(row.held()))>::Scalar;
    const auto& numbers = detail::numbers_of(row.held());
    Left<Value> left;
    for (Index place = 0; place < numbers.size(); ++place) {
        left.ids.push_back(row.ids().id(place));
        left.numbers.push_back(numbers.coeff(place));
    }
    return left;
}

using Random = std::mt19937_64;

/// Logits with ties, and some of them impossible.
template <class Value>
Eigen::Array<Value, Eigen::Dynamic, 1> random_logits(Random& random, Index vocab) {
    Eigen::Array<Value, Eigen::Dynamic, 1> logits(vocab);
    const bool has_ties = random() % 2;
    std::normal_distribution<double> normal(0, 3);
    for (Index id = 0; id < vocab; ++id) {
        const double z = has_ties ? static_cast<double>(random() % 12) - 6 : normal(random);
        logits[id] = static_cast<Value>(random() % 50 == 0 ? -inf : z);
    }
    logits[0] = 1;
    return logits;
}

std::vector<std::uint32_t> random_mask(Random& random, Index vocab) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>((vocab + 31) / 32) - random() % 2);
    const auto kind = random() % 4;
    for (std::uint32_t& word : words) {
        word = static_cast<std::uint32_t>(random());
        if (kind == 1) word |= static_cast<std::uint32_t>(random());
        if (kind == 2) word &= static_cast<std::uint32_t>(random());
        if (kind == 3) word = random() % 8 ? ~std::uint32_t{0} : 0;
    }
    return words;
}

/// Texts that go on, branch off and begin anew, with tokens outside the vocabulary.
class Texts {
  public:
    std::span<const Token> next(Random& random, Index vocab) {
        const auto cut = random() % 4 == 0 ? random() % (text_.size() + 1) : random() % 3;
        text_.resize(text_.size() - std::min(text_.size(), static_cast<std::size_t>(cut)));
        for (auto count = random() % 40; count > 0; --count)
            text_.push_back(static_cast<Token>(
                random() % 30 == 0 ? -1 - static_cast<int>(random() % 9)
                                   : static_cast<int>(random() % static_cast<std::uint64_t>(vocab + 3))));
        return text_;
    }

  private:
    std::vector<Token> text_;
};

/// Compare rows of one memory with rows that are lowered at once, each in memory of its own.
template <class Value>
void compare(const auto& row, const auto& waiting, const auto& at_once, std::span<const Token> text,
             ShapedMemory<Value>& memory) {
    ShapedMemory<Value> other;
    const auto expected = left_of(shape(row, at_once, text, other));
    REQUIRE(left_of(shape(row, waiting, text, memory)) == expected);
}

}  // namespace

TEMPLATE_TEST_CASE("what waits for a top-k leaves the same row", "[shaping]", float, double) {
    Random random(4);
    ShapedMemory<TestType> memory;
    Texts texts;
    for (int round = 0; round < 600; ++round) {
        const Index vocab = 1 + static_cast<Index>(random() % (round % 5 ? 300 : 9000));
        const auto logits = random_logits<TestType>(random, vocab);
        const auto words = random_mask(random, vocab);
        const auto text = texts.next(random, vocab);
        const TokenMask mask{words}, other{random_mask(random, vocab)};
        const Window late{.last_n = static_cast<Index>(random() % 60), .skip = static_cast<Index>(random() % 9)};
        const RepetitionPenalty repetition(1 + static_cast<double>(random() % 3) / 4);
        const FrequencyPenalty frequency(static_cast<double>(random() % 5) - 3, late);  // a reward, too
        const PresencePenalty presence(static_cast<double>(random() % 3) / 4, late);
        const Index k = 1 + static_cast<Index>(random() % 70);
        const TopK top(random() % 8 ? k : vocab + k);
        const Temperature temperature(random() % 4 ? .75 : 0);
        const Logits row(logits);
        const auto check = [&](const auto&... stages) {
            compare(row, Pipeline{stages...}, Pipeline{Pipeline{stages, Now()}...}, text, memory);
        };
        check(repetition, frequency, presence, temperature, top);
        check(mask, repetition, top, TopP(.9));
        check(repetition, mask, temperature, MinP(.1));
        check(temperature, presence, mask, TypicalP(.9), top);
        check(repetition, LogitBias({{0, -2}, {1, 3}}), presence, temperature, top);
        check(mask, presence, other);
        check(other, mask, top);
        check(presence, frequency);
        check(top, repetition, mask, TopK(3));
    }
}

TEST_CASE("a mask waits for a row of probabilities, too", "[shaping]") {
    Random random(5);
    ShapedMemory<double> memory;
    for (int round = 0; round < 300; ++round) {
        const Index vocab = 2 + static_cast<Index>(random() % 900);
        Eigen::ArrayXd probs = random_logits<double>(random, vocab).exp();
        probs /= probs.sum();
        const TokenMask mask{random_mask(random, vocab)};
        const std::vector<Token> text{1, 1, 0};
        compare(probs, Pipeline{mask, TopK(9), TopP(.8)}, Pipeline{mask, Now(), TopK(9), TopP(.8)}, text, memory);
        compare(probs, Pipeline{mask, Temperature(.5)}, Pipeline{mask, Now(), Temperature(.5)}, text, memory);
        compare(probs, Pipeline{mask, PresencePenalty(.5), TopK(9)},
                Pipeline{mask, Now(), PresencePenalty(.5), Now(), TopK(9)}, text, memory);
    }
}

TEST_CASE("a top-k of lowered logits leaves the row where it lies", "[shaping]") {
    Random random(6);
    const auto logits = random_logits<float>(random, 50'000);
    const std::vector<Token> text(400, 7);
    ShapedMemory<float> memory;
    shape(Logits(logits), SamplingParams{.top_k = 50, .repetition_penalty = 1.5, .presence_penalty = 1}, text, memory);
    CHECK(memory.row.numbers.size() == 50);
    shape(Logits(logits), SamplingParams{.temperature = 0, .frequency_penalty = 1}, text, memory);
    CHECK(memory.row.numbers.size() == 50);
}

TEST_CASE("penalties on different texts wait side by side", "[shaping]") {
    const std::vector<float> logits{5, 4, 3, 2};
    const std::vector<Token> text{0, 1, 2};
    const auto last = [](auto& row, std::span<const Token> context) { PresencePenalty(4)(row, context.last(1)); };
    const auto first = [](auto& row, std::span<const Token> context) { PresencePenalty(2)(row, context.first(1)); };
    ShapedMemory<float> memory, other;
    for (int again = 0; again < 2; ++again) {
        const auto left = left_of(shape(Logits(logits), Pipeline{last, first, TopK(3)}, text, memory));
        CHECK(left == Left<float>{{0, 1, 3}, {3, 4, 2}});
        CHECK(left == left_of(shape(Logits(logits), Pipeline{last, Now(), first, Now(), TopK(3)}, text, other)));
    }
}

TEST_CASE("a shaper that throws leaves nothing that waits", "[shaping]") {
    const std::vector<float> logits{3, 2, 1};
    const std::vector<Token> text{0};
    const auto throws = [](auto&, std::span<const Token>) { throw 1; };
    ShapedMemory<float> memory, other;
    CHECK_THROWS_AS(shape(Logits(logits), Pipeline{PresencePenalty(2), throws}, text, memory), int);
    const auto expected = left_of(shape(Logits(logits), TopK(2), text, other));
    CHECK(left_of(shape(Logits(logits), TopK(2), text, memory)) == expected);
}

TEST_CASE("tokens are counted from text to text", "[shaping]") {
    Random random(7);
    detail::TokenCounts counts;
    Texts texts;
    CHECK(counts[3] == 0);
    for (int round = 0; round < 2000; ++round) {
        const auto text = texts.next(random, round % 2 ? 2000 : 40);
        counts.count(text);
        std::map<Token, Index> expected, found;
        for (const Token token : text)
            if (token >= 0) ++expected[token];
        bool is_twice = false;
        counts.for_each([&](Token token, Index count) { is_twice |= !found.emplace(token, count).second; });
        REQUIRE(found == expected);
        REQUIRE_FALSE(is_twice);
        for (Token token = 0; token < 60; ++token)
            REQUIRE(counts[token] == (expected.contains(token) ? expected[token] : 0));
    }
}

TEST_CASE("a penalty that raises logits does not wait", "[shaping]") {
    using detail::Penalty;
    CHECK(Penalty{Penalty::Kind::repetition, 1.25, 1}.only_lowers());
    CHECK_FALSE(Penalty{Penalty::Kind::repetition, .75, 1}.only_lowers());
    CHECK(Penalty{Penalty::Kind::presence, .5, 1}.only_lowers());
    CHECK_FALSE(Penalty{Penalty::Kind::frequency, -.5, 1}.only_lowers());
}

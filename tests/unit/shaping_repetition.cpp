// NoRepeatNgram and Dry against plain searches of the text.
#include <specsample/shaping/repetition.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

using Text = std::vector<Token>;

Text random_text(std::mt19937_64& random, std::size_t size, Token vocab) {
    Text text(size);
    for (Token& token : text) token = static_cast<Token>(random() % static_cast<std::uint64_t>(vocab));
    if (random() % 2 == 0)  // a text in a loop
        for (std::size_t i = 5; i < size; ++i) text[i] = text[i - 5];
    return text;
}

/// The tokens that would end an n-gram of the text.
std::set<Token> enders(const Text& text, std::size_t n) {
    std::set<Token> banned;
    for (std::size_t i = 0; i + n <= text.size(); ++i)
        if (std::equal(text.begin() + Index(i), text.begin() + Index(i + n - 1), text.end() - Index(n - 1)))
            banned.insert(text[i + n - 1]);
    return banned;
}

/// The longest repetition that each token would prolong, up to the last breaker.
std::map<Token, Index> repetitions(const Text& text, const std::vector<Text>& breakers) {
    std::size_t limit = 0;
    for (; limit < text.size(); ++limit) {
        const Text before(text.begin(), text.end() - Index(limit));
        if (std::ranges::any_of(breakers, [&](const Text& breaker) {
                return breaker.size() <= before.size() &&
                       std::equal(breaker.begin(), breaker.end(), before.end() - std::ssize(breaker));
            }))
            break;
    }
    std::map<Token, Index> longest;
    for (std::size_t i = 1; i < text.size(); ++i) {
        std::size_t length = 0;
        while (length < std::min(limit, i) && text[i - 1 - length] == text[text.size() - 1 - length]) ++length;
        longest[text[i]] = std::max(longest[text[i]], Index(length));
    }
    return longest;
}

}  // namespace

TEST_CASE("no n-gram comes twice", "[shaping]") {
    std::mt19937_64 random(1);
    const auto logits = random_logits(8, 1);
    for (int round = 0; round < 300; ++round) {
        const Text text = random_text(random, random() % 40, 3);
        const Index n = 1 + Index(random() % 5);
        std::vector<Index> expected;
        const std::set<Token> banned = enders(text, std::size_t(n));
        for (Token token = 0; token < 8; ++token)
            if (!banned.contains(token)) expected.push_back(token);
        INFO("text of " << text.size() << ", n " << n);
        CHECK(possible(through(NoRepeatNgram{n}, Logits(logits), text)) == expected);
        CHECK(possible(through(NoRepeatNgram{n}, softmax_of(logits), text)) == expected);
    }
    CHECK(possible(through(NoRepeatNgram{0}, Logits(logits), {1, 1, 1})).size() == 8);
}

TEST_CASE("DRY lowers what would prolong a repetition", "[shaping]") {
    std::mt19937_64 random(2);
    const auto logits = random_logits(6, 2);
    for (int round = 0; round < 400; ++round) {
        const Text text = random_text(random, random() % 60, 1 + Token(random() % 4));
        Dry dry{.multiplier = .7, .base = 1.3, .allowed_length = 1 + Index(random() % 3)};
        if (random() % 3 == 0) dry.last_n = Index(random() % 20);
        if (random() % 3 == 0) dry.sequence_breakers = {{Token(random() % 4)}, {2, 1}};
        const Text seen(text.end() - std::min(dry.last_n, std::ssize(text)), text.end());
        Array<double> expected = logits;
        for (const auto& [token, length] : repetitions(seen, dry.sequence_breakers))
            if (length >= dry.allowed_length)
                expected[token] -= .7 * std::pow(1.3, double(length - dry.allowed_length));
        INFO("round " << round << ", text of " << text.size());
        CHECK(distance(through(dry, Logits(logits), text), softmax_of(expected)) < 1e-12);
        CHECK(distance(through(dry, softmax_of(logits), text), softmax_of(expected)) < 1e-12);
    }
}

TEST_CASE("DRY in figures", "[shaping]") {
    // After 1 2 3 9 1 2, the token 3 would prolong a repetition of two tokens.
    const Text text{1, 2, 3, 9, 1, 2};
    const Array<double> logits = Array<double>::Zero(10);
    const auto lowered = [&](const Dry& dry) {
        const auto row = through(dry, Logits(logits), text);
        return std::log(row[3] / row[0]);
    };
    CHECK(std::abs(lowered({.multiplier = 1}) + 1) < 1e-12);
    CHECK(std::abs(lowered({.multiplier = 2, .base = 3, .allowed_length = 1}) + 6) < 1e-12);
    CHECK(lowered({.multiplier = 1, .allowed_length = 3}) == 0);
    CHECK(lowered({.multiplier = 1, .sequence_breakers = {{1}}}) == 0);
    CHECK(std::abs(lowered({.multiplier = 1, .sequence_breakers = {{9}}}) + 1) < 1e-12);
    CHECK(lowered({.multiplier = 1, .sequence_breakers = {{1, 2}}}) == 0);
    CHECK(lowered({.multiplier = 1, .last_n = 4}) == 0);
}

TEST_CASE("DRY leaves a row where it lies for a top-k", "[shaping]") {
    const auto row = random_logits<float>(3000, 2);
    const std::vector<Index> best = sorted(row);
    const auto token = [&](std::size_t rank) { return static_cast<Token>(best[rank]); };
    const Text text{token(1), 7, token(2), 8, token(1), 7};
    filters::ShapedMemory<float> memory;
    const Pipeline pipeline{Dry{.multiplier = 90}, TopK{3}};
    for (int time = 0; time < 2; ++time) {
        std::vector<Index> expected{best[0], best[1], best[3]};
        std::ranges::sort(expected);
        CHECK(possible(probs_by_id(shape(Logits(row), pipeline, text, memory))) == expected);
        CHECK(memory.row.numbers.size() < 100);
        // Counts of repetitions do not stay for the penalty of another pipeline with the same memory.
        const Pipeline other{PresencePenalty{90}, TopK{3}};
        std::vector<Index> others{best[1], best[2], best[3]};
        std::ranges::sort(others);
        CHECK(possible(probs_by_id(shape(Logits(row), other, Text{token(0)}, memory))) == others);
    }
    CHECK(shape(Logits(row), Dry{.multiplier = 90}, Text{1, 2, 3}, memory).held().numbers().data() == row.data());
}

TEST_CASE("a long repetition leaves a row valid", "[shaping]") {
    const auto logits = random_logits<float>(4, 1);
    const auto row = through(Dry{.multiplier = 1e30, .base = 1e3}, Logits(logits), Text(5000, 2));
    CHECK(std::abs(row.sum() - 1) < 1e-6);
    CHECK(row[2] == 0);
}

TEST_CASE("settings of repetitions out of range are refused", "[shaping]") {
    const std::vector<double> probs{.5, .5};
    CHECK_THROWS_WITH(NoRepeatNgram(-1), "specsample::NoRepeatNgram: size is -1, but must be at least 0");
    CHECK_THROWS_WITH(through(Dry{.multiplier = -1}, probs),
                      "specsample::Dry: multiplier is -1, but must be a finite number >= 0");
    CHECK_THROWS_WITH(through(Dry{.base = .5}, probs),
                      "specsample::Dry: base is 0.5, but must be a finite number >= 1");
    CHECK_THROWS_WITH(through(Dry{.allowed_length = 0}, probs),
                      "specsample::Dry: allowed_length is 0, but must be at least 1");
    CHECK_THROWS_WITH(Pipeline(Dry{.last_n = -1}), "specsample::Dry: last_n is -1, but must be at least 0");
    CHECK_THROWS_WITH(Pipeline(Dry{.sequence_breakers = {{}}}),
                      "specsample::Dry: the length of a sequence breaker is 0, but must be at least 1");
}

// Penalties against their definitions, over windows of every kind.
#include <specsample/shaping/penalties.hpp>

#include <cmath>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

const std::vector<Token> context{3, 1, 1, 4, 1, 3};
const Array<double> logits = (Array<double>(6) << 1.5, 2, -.5, -1, .25, 0).finished();

/// The counts of all ids in a context.
std::vector<Index> counts_of(std::span<const Token> window, Index vocab) {
    std::vector<Index> counts(static_cast<std::size_t>(vocab));
    for (const Token id : window) ++counts[static_cast<std::size_t>(id)];
    return counts;
}

/// Logits with change(z, count) where the count is positive.
template <class Change>
Array<double> penalised(Array<double> z, std::span<const Token> window, const Change& change) {
    const auto counts = counts_of(window, z.size());
    for (Index i = 0; i < z.size(); ++i)
        if (const Index count = counts[static_cast<std::size_t>(i)]; count > 0) z[i] = change(z[i], count);
    return z;
}

}  // namespace

TEST_CASE("the repetition penalty divides positive logits, multiplies the others, once per token", "[shaping]") {
    const Array<double> expected = (Array<double>(6) << 1.5, 1, -.5, -2, .125, 0).finished();
    CHECK(distance(through(RepetitionPenalty{2}, Logits(logits), context), softmax_of(expected)) < 1e-15);
}

TEST_CASE("the frequency penalty counts, the presence penalty does not", "[shaping]") {
    const Array<double> frequency = (Array<double>(6) << 1.5, .5, -.5, -2, -.25, 0).finished();
    const Array<double> presence = (Array<double>(6) << 1.5, 1.5, -.5, -1.5, -.25, 0).finished();
    CHECK(distance(through(FrequencyPenalty{.5}, Logits(logits), context), softmax_of(frequency)) < 1e-15);
    CHECK(distance(through(PresencePenalty{.5}, Logits(logits), context), softmax_of(presence)) < 1e-15);
}

TEST_CASE("penalties over random rows and contexts are their definitions", "[shaping]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto z = random_logits(40, seed);
        std::vector<Token> text;
        for (std::uint32_t i = 0; i < 60; ++i)
            text.push_back(static_cast<Token>(40 * Rng({.seed = seed + 99}).uniform(i)));
        INFO("seed " << seed);
        CHECK(distance(through(RepetitionPenalty{1.3}, Logits(z), text),
                       softmax_of(penalised(z, text, [](double x, Index) { return x > 0 ? x / 1.3 : x * 1.3; }))) <
              1e-14);
        CHECK(distance(through(FrequencyPenalty{-.3}, Logits(z), text),
                       softmax_of(penalised(z, text, [](double x, Index n) { return x + .3 * double(n); }))) < 1e-14);
        CHECK(distance(through(PresencePenalty{.7}, Logits(z), text),
                       softmax_of(penalised(z, text, [](double x, Index) { return x - .7; }))) < 1e-14);
    }
}

TEST_CASE("a window has the last tokens, without those that are skipped", "[shaping]") {
    const auto seen = [](Window window) {
        const auto tokens = window.of(context);
        return std::vector<Token>(tokens.begin(), tokens.end());
    };
    CHECK(seen({}) == context);
    CHECK(seen({.last_n = 2}) == std::vector<Token>{1, 3});
    CHECK(seen({.last_n = 0}).empty());
    CHECK(seen({.skip = 4}) == std::vector<Token>{1, 3});
    CHECK(seen({.last_n = 3, .skip = 5}) == std::vector<Token>{3});
    CHECK(seen({.last_n = 100, .skip = 100}).empty());
    const Array<double> last = (Array<double>(6) << 1.5, 1, -.5, -2, .25, 0).finished();
    CHECK(distance(through(FrequencyPenalty{1, {.last_n = 2}}, Logits(logits), context), softmax_of(last)) < 1e-15);
}

TEST_CASE("penalties on probabilities are those on ln p", "[shaping]") {
    const auto probs = softmax_of(logits);
    const Array<double> ln = probs.log();
    const auto doubled = penalised(ln, context, [](double x, Index) { return x > 0 ? x / 2 : x * 2; });
    CHECK(distance(through(RepetitionPenalty{2}, probs, context), softmax_of(doubled)) < 1e-14);
    // Additive penalties ignore a constant added to the logits.
    CHECK(distance(through(FrequencyPenalty{.5}, probs, context),
                   through(FrequencyPenalty{.5}, Logits(logits), context)) < 1e-14);
    CHECK(distance(through(PresencePenalty{.5}, probs, context),
                   through(PresencePenalty{.5}, Logits(logits), context)) < 1e-14);
}

TEST_CASE("a penalty after a temperature is one on the logits at that temperature", "[shaping]") {
    Array<double> hot = logits / 2;
    const auto expected = penalised(hot, context, [](double x, Index n) { return x - .5 * double(n); });
    CHECK(distance(through(Pipeline{Temperature{2}, FrequencyPenalty{.5}}, Logits(logits), context),
                   softmax_of(expected)) < 1e-15);
    CHECK(distance(through(Pipeline{Temperature{2}, FrequencyPenalty{.5}}, softmax_of(logits), context),
                   softmax_of(expected)) < 1e-14);
}

TEST_CASE("a penalty after a filter changes the kept tokens only", "[shaping]") {
    const auto shaped = through(Pipeline{TopK{2}, PresencePenalty{1}}, Logits(logits), context);
    CHECK(possible(shaped) == std::vector<Index>{0, 1});
    CHECK(shaped[1] == Approx(std::exp(1.) / (std::exp(1.) + std::exp(1.5))));
}

TEST_CASE("a penalty that is off, or has nothing to look at, leaves the model's own memory", "[shaping]") {
    filters::ShapedMemory<double> memory;
    const auto check = [&](const auto& penalty, const std::vector<Token>& text) {
        CHECK(shape(Logits(logits), penalty, text, memory).held().numbers().data() == logits.data());
    };
    check(RepetitionPenalty{1}, context);
    check(FrequencyPenalty{0}, context);
    check(PresencePenalty{0}, context);
    check(RepetitionPenalty{2}, {});
    check(FrequencyPenalty{1, {.skip = 6}}, context);
}

TEST_CASE("the model's row stays as it is, and memory forgets the last window", "[shaping]") {
    const Array<double> before = logits;
    filters::ShapedMemory<double> memory;
    const auto first = probs_by_id(shape(Logits(logits), FrequencyPenalty{1}, context, memory));
    for (int i = 0; i < 3; ++i)
        CHECK(distance(probs_by_id(shape(Logits(logits), FrequencyPenalty{1}, context, memory)), first) == 0);
    CHECK((logits == before).all());
}

TEST_CASE("tokens outside the vocabulary are passed over, and what is impossible stays so", "[shaping]") {
    const std::vector<Token> odd{-1, 6, 1000000, 2};
    CHECK(distance(through(PresencePenalty{1}, Logits(logits), odd),
                   through(PresencePenalty{1}, Logits(logits), {2})) == 0);
    Array<double> masked = logits;
    masked[2] = -infinity;
    for (const double penalty : {-2., 2.}) CHECK(through(FrequencyPenalty{penalty}, Logits(masked), {2, 2})[2] == 0);
    CHECK(through(RepetitionPenalty{.5}, Logits(masked), {2})[2] == 0);
}

TEST_CASE("penalties out of range cannot be built", "[shaping]") {
    CHECK_THROWS_WITH(RepetitionPenalty(0),
                      "specsample::RepetitionPenalty: penalty is 0, but must be a positive number");
    CHECK_THROWS_AS(RepetitionPenalty(infinity), std::invalid_argument);
    CHECK_THROWS_WITH(FrequencyPenalty(infinity),
                      "specsample::FrequencyPenalty: penalty is inf, but must be a finite number");
    CHECK_THROWS_WITH(PresencePenalty(std::nan("")),
                      "specsample::PresencePenalty: penalty is nan, but must be a finite number");
    CHECK_THROWS_WITH(PresencePenalty(1, {.last_n = -1}), "specsample::Window: last_n is -1, but must be at least 0");
    CHECK_THROWS_WITH(FrequencyPenalty(1, {.skip = -2}),
                      "specsample::Window: skip is -2, but must be at least 0, or whole_prompt");
}

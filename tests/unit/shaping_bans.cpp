// Bad words, a least number of tokens, and a budget for thinking.
#include <specsample/shaping/bans.hpp>

#include <algorithm>
#include <vector>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/truncation.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

using Ids = std::vector<Index>;
const auto logits = random_logits(6, 1);

/// The ids that are possible, the same for a row of logits, of probabilities, and for a list of candidates.
template <class Filter>
Ids allowed(const Filter& filter, const std::vector<Token>& context) {
    const Ids ids = possible(through(filter, Logits(logits), context));
    CHECK(possible(through(filter, softmax_of(logits), context)) == ids);
    Ids listed = possible(through(TopK{5}, Logits(logits)));
    std::erase_if(listed, [&](Index id) { return std::ranges::find(ids, id) == ids.end(); });
    CHECK(possible(through(Pipeline{TopK{5}, filter}, Logits(logits), context)) == listed);
    return ids;
}

}  // namespace

TEST_CASE("no bad word is written", "[shaping]") {
    const BadWords words{{{2}, {1, 3}, {1, 1, 4}}};
    CHECK(allowed(words, {}) == Ids{0, 1, 3, 4, 5});
    CHECK(allowed(words, {1}) == Ids{0, 1, 4, 5});
    CHECK(allowed(words, {3, 1}) == Ids{0, 1, 4, 5});
    CHECK(allowed(words, {1, 1}) == Ids{0, 1, 5});
    CHECK(allowed(words, {1, 0}) == Ids{0, 1, 3, 4, 5});
    CHECK(allowed(BadWords{{{77}, {-1}}}, {}) == Ids{0, 1, 2, 3, 4, 5});
    CHECK(allowed(BadWords{}, {1}).size() == 6);
}

TEST_CASE("a text does not end before it has enough new tokens", "[shaping]") {
    const MinTokens least{.min_tokens = 2, .stop_token_ids = {0, 5}, .prompt_size = 3};
    CHECK(allowed(least, {1}) == Ids{1, 2, 3, 4});
    CHECK(allowed(least, {1, 1, 1}) == Ids{1, 2, 3, 4});
    CHECK(allowed(least, {1, 1, 1, 1}) == Ids{1, 2, 3, 4});
    CHECK(allowed(least, {1, 1, 1, 1, 1}).size() == 6);
    CHECK(allowed(MinTokens{}, {}).size() == 6);
}

TEST_CASE("bans leave a row where it lies for a top-k", "[shaping]") {
    const auto row = random_logits<float>(3000, 2);
    filters::ShapedMemory<float> memory;
    const Ids best = sorted(row);
    const Pipeline pipeline{BadWords{{{static_cast<Token>(best[0])}, {static_cast<Token>(best[2])}}}, TopK{3}};
    const auto shaped = shape(Logits(row), pipeline, {}, memory);
    CHECK(possible(probs_by_id(shaped)) == [&] {
        Ids ids{best[1], best[3], best[4]};
        std::ranges::sort(ids);
        return ids;
    }());
    CHECK(memory.row.numbers.size() < 100);
}

TEST_CASE("thinking ends where its budget ends", "[shaping]") {
    const ThinkingBudget thinking{.start = {1}, .end = {2, 3}, .budget = 2};
    const Ids all{0, 1, 2, 3, 4, 5};
    CHECK(allowed(thinking, {}) == all);
    CHECK(allowed(thinking, {4, 1}) == all);
    CHECK(allowed(thinking, {4, 1, 0}) == all);
    CHECK(allowed(thinking, {4, 1, 0, 0}) == Ids{2});
    CHECK(allowed(thinking, {4, 1, 0, 0, 2}) == Ids{3});
    CHECK(allowed(thinking, {4, 1, 0, 0, 2, 3}) == all);
    CHECK(allowed(thinking, {4, 1, 0, 2}) == Ids{3});        // the model has begun to end it
    CHECK(allowed(thinking, {4, 1, 2, 3, 0, 0, 0}) == all);  // it ended by itself
    CHECK(allowed(thinking, {4, 1, 2, 3, 1, 0, 0}) == Ids{2});
    CHECK(allowed(ThinkingBudget{.start = {1, 1}, .end = {5}, .budget = 0}, {0, 1, 1}) == Ids{5});
    CHECK(allowed(ThinkingBudget{.start = {1}, .end = {2, 2, 3}, .budget = 1}, {1, 2, 2}) == Ids{3});
    CHECK(allowed(ThinkingBudget{}, {1, 1}) == all);
}

TEST_CASE("a forced token that is not possible leaves nothing", "[shaping]") {
    const Pipeline pipeline{BadWords{{{2}}}, ThinkingBudget{.start = {1}, .end = {2}, .budget = 0}};
    CHECK(possible(through(pipeline, Logits(logits), {1})).empty());
}

TEST_CASE("settings of bans out of range are refused", "[shaping]") {
    CHECK_THROWS_WITH(through(BadWords{{{1}, {}}}, Logits(logits)),
                      "specsample::BadWords: the length of a sequence is 0, but must be at least 1");
    CHECK_THROWS_WITH(Pipeline(MinTokens{.min_tokens = -1}),
                      "specsample::MinTokens: min_tokens is -1, but must be at least 0");
    CHECK_THROWS_WITH(through(MinTokens{.prompt_size = -2}, Logits(logits)),
                      "specsample::MinTokens: prompt_size is -2, but must be at least 0, or whole_prompt");
    CHECK_THROWS_WITH(through(ThinkingBudget{.budget = -1}, Logits(logits)),
                      "specsample::ThinkingBudget: budget is -1, but must be at least 0");
    CHECK_THROWS_WITH(Pipeline(ThinkingBudget{.start = {1}}),
                      "specsample::ThinkingBudget: the length of the end marker is 0, but must be at least 1");
}

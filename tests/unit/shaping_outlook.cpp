// What pipelines foresee of a row: how far down it they look, and which logits they change.
#include <specsample/shaping/outlook.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <specsample/shaping.hpp>

#include "support/catch.hpp"

using namespace specsample;
using namespace filters;

namespace {

constexpr Reach everything;

struct Foreseen {
    Reach reach;
    std::vector<Token> changed;
    bool operator==(const Foreseen& other) const {
        return reach.most == other.reach.most && reach.distance == other.reach.distance &&
               reach.mass == other.reach.mass && reach.temperature == other.reach.temperature &&
               changed == other.changed;
    }
};

/// What a pipeline foresees after the tokens 5, 6, 5, of logits at a temperature.
template <class P>
Foreseen foreseen(const P& pipeline, double temperature = 1) {
    const std::vector<Token> context{5, 6, 5};
    std::vector<Token> memory{99};  // of the row before
    Outlook outlook(temperature, memory);
    detail::for_each_stage(pipeline, [&](const auto& stage) { outlook.ask(stage, context); });
    return {outlook.reach(), {outlook.changed().begin(), outlook.changed().end()}};
}

/// A shaper of one's own.
struct Doubled {
    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        for (Value& logit : row.change_logits()) logit *= 2;
    }
};

/// One that says what it does.
struct First : Doubled {
    void foresee(Outlook& outlook, std::span<const Token> context) const { outlook.change(context[0]); }
};

}  // namespace

TEST_CASE("a pipeline foresees its first filter") {
    CHECK(foreseen(SamplingParams{}) == Foreseen{everything, {}});
    CHECK(foreseen(TopK(7)) == Foreseen{{.most = 7}, {}});
    CHECK(foreseen(TopK(0)) == Foreseen{everything, {}});
    CHECK(foreseen(TopP(.9), .5) == Foreseen{{.mass = .9, .temperature = .5}, {}});
    CHECK(foreseen(MinP(.25), .5) == Foreseen{{.distance = -.5 * std::log(.25)}, {}});
    CHECK(foreseen(TypicalP(.5)) == Foreseen{everything, {}});
    CHECK(foreseen(Pipeline{TopK(7), TopP(.9)}) == Foreseen{{.most = 7}, {}});
    CHECK(foreseen(Pipeline{TopK(0), TypicalP(1), TopP(1), MinP(0), TopK(3)}) == Foreseen{{.most = 3}, {}});
    CHECK(foreseen(Pipeline{Pipeline{Temperature(.5)}, TopP(.9)}) == Foreseen{{.mass = .9, .temperature = .5}, {}});
    CHECK(foreseen(Pipeline{TypicalP(.5), TopK(7)}) == Foreseen{everything, {}});
    const Pipeline borrowed{TopK(7), TopP(.9)};
    CHECK(foreseen(Pipeline{std::cref(borrowed)}) == Foreseen{{.most = 7}, {}});
    const SamplingParams all{.temperature = .5, .top_k = 3, .top_p = .9, .min_p = .1, .typical_p = .9};
    CHECK(foreseen(all) == Foreseen{{.most = 3}, {}});
}

TEST_CASE("a pipeline of temperature 0 leaves one token") {
    CHECK(foreseen(SamplingParams{.top_p = .9}, 0) == Foreseen{{.most = 1}, {}});
    CHECK(foreseen(SamplingParams{.temperature = 0, .top_k = 9}) == Foreseen{{.most = 1}, {}});
    CHECK(foreseen(Pipeline{MinP(.5), Temperature(0)}) == Foreseen{{.distance = -std::log(.5)}, {}});
}

TEST_CASE("a pipeline foresees the tokens whose logits it changes before") {
    const std::vector<Token> counted{5, 6, 5};
    CHECK(foreseen(Pipeline{RepetitionPenalty(1.1), TopK(7)}) == Foreseen{{.most = 7}, counted});
    CHECK(foreseen(Pipeline{FrequencyPenalty(.1, {.last_n = 2}), TopK(7)}) == Foreseen{{.most = 7}, {6, 5}});
    CHECK(foreseen(Pipeline{PresencePenalty(.1, {.skip = 1}), TopK(7)}) == Foreseen{{.most = 7}, {6, 5}});
    CHECK(foreseen(Pipeline{RepetitionPenalty(1), FrequencyPenalty(0), PresencePenalty(0), TopK(7)}) ==
          Foreseen{{.most = 7}, {}});
    CHECK(foreseen(Pipeline{LogitBias({{3, .5}, {1, -1}}), TopK(7)}) == Foreseen{{.most = 7}, {3, 1}});
    CHECK(foreseen(Pipeline{TopK(7), RepetitionPenalty(1.1)}) == Foreseen{{.most = 7}, {}});
    CHECK(foreseen(SamplingParams{.min_p = .5, .presence_penalty = .1, .prompt_size = 2, .logit_bias = {{9, 1.}}}) ==
          Foreseen{{.distance = -std::log(.5)}, {9, 5}});
}

TEST_CASE("a shaper that cannot say what it does reads the whole row") {
    CHECK(foreseen(Pipeline{Doubled(), TopK(7)}) == Foreseen{everything, {}});
    CHECK(foreseen(Pipeline{TopK(7), Doubled()}) == Foreseen{{.most = 7}, {}});
    CHECK(foreseen(Pipeline{First(), TopK(7)}) == Foreseen{{.most = 7}, {5}});
    const SamplingParams masked{.top_k = 3,
                                .mask = [](std::span<const Token>) { return std::span<const std::uint32_t>(); }};
    CHECK(foreseen(masked) == Foreseen{everything, {}});
}

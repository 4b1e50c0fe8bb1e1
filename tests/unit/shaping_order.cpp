// One order of shaping: steps that change logits change those of the model, then come the temperature and the filters,
// for every kind of row. A temperature that the row brings along divides what the pipeline leaves.
#include <functional>
#include <limits>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/shaping/grammar.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::filters;

namespace {

const std::vector<Token> context{0, 2, 0};
const std::vector<std::uint32_t> not_first{~1u};

/// Allows every token but the first.
struct NotFirst {
    std::vector<std::uint32_t> mask() const { return not_first; }
    bool accept(Token) { return true; }
    void rollback(Index) {}
};

/// Adds to a logit, as a user's own code does.
struct Lift {
    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (const Index place = row.place_of(1); place >= 0)
            row.change_logits()[static_cast<std::size_t>(place)] += static_cast<Value>(row.temperature() * 1.5);
    }
};

/// Call f with a name and every step that changes logits.
template <class F>
void for_processors(const F& f) {
    f("mask", TokenMask{not_first});
    f("grammar", Grammar{NotFirst()});
    f("bias", LogitBias{{{0, -3.}, {2, .5}}});
    f("ban", LogitBias{{{0, -infinity}}});
    f("presence", PresencePenalty{1.75});
    f("frequency", FrequencyPenalty{1});
    f("repetition", RepetitionPenalty{2.5});
    f("a step of one's own", Lift());
    f("all", SamplingParams{.presence_penalty = .5, .logit_bias = {{3, 2.}}, .mask = not_first});
}

const Array<double> logits = (Array<double>(6) << 3, 2, 1, 0, -1, 1.5).finished();

/// Logits of a scalar, all of which every scalar can hold.
template <class Scalar>
std::vector<Scalar> row_as() {
    std::vector<Scalar> row;
    for (const double z : logits) row.push_back(static_cast<Scalar>(static_cast<float>(z)));
    return row;
}

/// Call f with a name, and a function of a temperature that returns a row at it.
template <class F>
void for_kinds(const F& f) {
    f("double", [](double t) { return Logits(row_as<double>(), t); });
    f("float", [](double t) { return Logits(row_as<float>(), t); });
    f("half", [](double t) { return Logits(row_as<Eigen::half>(), t); });
    f("bfloat16", [](double t) { return Logits(row_as<Eigen::bfloat16>(), t); });
    f("an expression", [](double t) { return Logits((logits + 1).cast<float>(), t); });
    f("of known normaliser", [](double t) { return Logits(row_as<float>(), t, 2.5); });
    f("sparse", [](double t) {
        return Sparse(std::vector<Token>{0, 1, 2, 5}, Logits(std::vector<float>{3, 2, 1, 1.5}, t), 6);
    });
}

}  // namespace

TEST_CASE("what changes logits changes the model's, at every temperature of a row of any kind", "[shaping]") {
    for_kinds([](const char* kind, const auto& row_at) {
        for_processors([&](const char* name, const auto& step) {
            for (const double temperature : {0., 1e-3, .5, .8, 2., 30.}) {
                INFO(kind << ", " << name << ", temperature " << temperature);
                const auto same = [&](const auto& here, const auto& stated) {
                    CHECK(distance(through(here, row_at(temperature), context), through(stated, row_at(1), context)) <
                          1e-15);
                };
                const Temperature stated(temperature);
                same(step, Pipeline{step, stated});
                same(Pipeline{step, TopK{2}}, Pipeline{step, stated, TopK{2}});
                same(Pipeline{step, TopP{.7}}, Pipeline{step, stated, TopP{.7}});
                same(Pipeline{step, MinP{.3}, TypicalP{.9}}, Pipeline{step, stated, MinP{.3}, TypicalP{.9}});
            }
        });
    });
}

TEST_CASE("probabilities are shaped as the logits that they come from, at temperature 0 too", "[shaping]") {
    for_processors([](const char* name, const auto& step) {
        if (std::string_view(name) == "repetition") return;  // it knows 0 among logits
        for (const double temperature : {0., .5, 2.}) {
            INFO(name << ", temperature " << temperature);
            const Pipeline pipeline{step, Temperature{temperature}, TopP{.8}};
            CHECK(distance(through(pipeline, softmax_of(logits), context), through(pipeline, Logits(logits), context)) <
                  1e-13);
        }
    });
}

TEST_CASE("a greedy row takes the largest of the logits that were changed", "[shaping]") {
    const std::vector<float> row{3, 2, 1, 0};
    const auto only = [&](const auto& pipeline) { return possible(through(pipeline, Logits(row, 0.), {0})); };
    const std::vector<Index> first{0}, second{1};
    CHECK(only(TokenMask{not_first}) == second);
    CHECK(only(LogitBias{{{0, -100.}}}) == second);
    CHECK(only(LogitBias{{{0, -infinity}}}) == second);
    CHECK(only(PresencePenalty{2}) == second);
    CHECK(only(PresencePenalty{.5}) == first);
    CHECK(only(RepetitionPenalty{2}) == second);
    CHECK(only(LogitBias{{{1, 1.}}}) == first);  // a tie
    CHECK(through(LogitBias{{{1, 1.}}}, Logits(std::vector<double>{1, 0}, .5))[1] == .5);
}

TEST_CASE("at temperature 0 a mask after it, or after a filter, leaves the largest that is allowed", "[shaping]") {
    const std::vector<float> row{3, 2, 1, 0}, probs{.6f, .25f, .1f, .05f};
    const std::vector<Index> second{1};
    const TokenMask mask{not_first};
    const auto check = [&](const auto& pipeline) {
        CHECK(possible(through(Pipeline{Temperature{0}, pipeline}, Logits(row))) == second);
        CHECK(possible(through(Pipeline{Temperature{0}, pipeline}, probs)) == second);
        CHECK(possible(through(pipeline, Logits(row, 0))) == second);
    };
    check(mask);
    check(Pipeline{TopK{2}, mask});
    check(Pipeline{TopP{.5}, mask});
    check(Pipeline{MinP{.9}, mask});
    check(Pipeline{TypicalP{.1}, mask});
    check(Pipeline{TopP{.5}, LogitBias{{{0, -100.}}}});
    const auto largest = [](auto& candidates, std::span<const Token>) {
        const auto weights = candidates.weights();
        CHECK(weights.total == 1);
        CHECK(weights.values[0] == 1);
    };
    through(largest, Logits(row, 0));
    through(Pipeline{Temperature{0}, largest}, probs);
}

TEST_CASE("a filter before a step that changes logits reads them at the row's own temperature", "[shaping]") {
    const std::vector<double> row{2, 1, 0};
    // At temperature .5 the first has .867 of the probability, at 1 it has .665.
    const Pipeline pipeline{TopP{.8}, LogitBias{{{0, -1.}}}};
    CHECK(possible(through(pipeline, Logits(row, .5))).size() == 1);
    CHECK(possible(through(pipeline, Logits(row, 1))).size() == 2);
    const auto both = through(Pipeline{TopP{.9}, LogitBias{{{0, -1.}}}}, Logits(row, .5));
    CHECK(both[0] == Approx(.5));
    CHECK(both[2] == 0);
}

TEST_CASE("a temperature is given once, by the row or by the pipeline", "[shaping]") {
    const std::vector<float> row{3, 2, 1, 0};
    const std::string twice = "specsample::Temperature: temperature is given twice, ";
    for (const double own : {0., .5, 2.})
        for (const double stated : {0., .5, .8}) {
            CHECK_THROWS_AS(through(SamplingParams{.temperature = stated}, Logits(row, own)), std::invalid_argument);
            CHECK_THROWS_AS(through(Pipeline{TopK{2}, Temperature{stated}}, Logits(row, own)), std::invalid_argument);
        }
    CHECK_THROWS_WITH(through(SamplingParams{.temperature = .8}, Logits(row, .5)),
                      twice + "0.5 by the row or an earlier step and 0.8 here, but must be given once (1 is none)");
    CHECK_NOTHROW(through(SamplingParams{.temperature = .8}, Logits(row, 1)));
    CHECK_NOTHROW(through(Pipeline{Temperature{1}, Temperature{.5}, Temperature{1}}, Logits(row)));
    CHECK_NOTHROW(through(SamplingParams{.temperature = 1}, Logits(row, .5)));
    // Of a pipeline, when it is made.
    CHECK_THROWS_WITH((Pipeline{Temperature{.5}, TopP{.9}, SamplingParams{.temperature = 0}}),
                      twice + "0.5 by the row or an earlier step and 0 here, but must be given once (1 is none)");
    const Pipeline inner{Temperature{2}};
    CHECK_THROWS_AS((Pipeline{Temperature{.5}, std::cref(inner)}), std::invalid_argument);
    const auto hot = [](auto& candidates, std::span<const Token>) { candidates.heat(2); };
    CHECK_THROWS_AS(through(Pipeline{hot, Temperature{.5}}, Logits(row)), std::invalid_argument);
    // Of models, when they are wrapped.
    const auto model = [&](std::span<const Token>) { return row; };
    CHECK_THROWS_AS(shaped(from_logits(model, .5), SamplingParams{.temperature = .5}), std::invalid_argument);
    CHECK_THROWS_AS(shaped(from_logits(model, 0), Temperature{.5}), std::invalid_argument);
    CHECK_THROWS_AS(shaped(shaped(model, Temperature{.5}), Temperature{.5}), std::invalid_argument);
    auto cold = shaped(from_logits(model), Temperature{.5});
    CHECK_THROWS_AS(shaped(std::ref(cold), Pipeline{TopK{2}, Temperature{2}}), std::invalid_argument);
    CHECK_NOTHROW(shaped(std::ref(cold), Pipeline{TopK{2}, LogitBias{{{0, 1.}}}}));
    // The bias of a second pipeline is one on the model's logits as well.
    auto biased = shaped(std::ref(cold), LogitBias{{{1, 1.}}});
    CHECK(distance(probs_by_id(biased(context)), through(LogitBias{{{1, 1.}}}, Logits(row, .5))) == 0);
}

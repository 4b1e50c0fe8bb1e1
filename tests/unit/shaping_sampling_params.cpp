// SamplingParams: the settings that users know, in the stated order.
#include <specsample/shaping/sampling_params.hpp>

#include <specsample/shaping/pipeline.hpp>
#include <specsample/shaping/shaped.hpp>
#include <specsample/shaping/token_mask.hpp>

#include "support/catch.hpp"
#include "unit/shaping_rows.hpp"

using namespace shaping_rows;
using namespace specsample::kernels;
using namespace specsample::filters;

namespace {

const auto logits = random_logits(200, 1);
const std::vector<Token> context{5, 6, 5, 7, 5};

}  // namespace

TEST_CASE("settings that are not set change nothing, and look at nothing", "[shaping]") {
    filters::ShapedMemory<double> memory;
    const auto row = shape(Logits(logits), SamplingParams{}, context, memory);
    CHECK(row.held().numbers().data() == logits.data());
    CHECK(row.held().temperature() == 1);
    CHECK((through(SamplingParams{}, softmax_of(logits), context) == softmax_of(logits)).all());
}

TEST_CASE("the order is bias, bans, penalties, mask, budget, temperature, filters", "[shaping]") {
    const std::vector<std::uint32_t> words(7, 0xfffffff0);
    const auto mask = [&](std::span<const Token>) { return std::span<const std::uint32_t>(words); };
    const std::vector<Bias> biases{{5, 4.}, {9, -infinity}};
    const Xtc xtc{.probability = 1, .threshold = .02, .seed = 4};
    const Dry dry{.multiplier = .6, .allowed_length = 1};
    SamplingParams settings{.temperature = .8,
                            .top_k = 60,
                            .top_p = .9,
                            .min_p = .05,
                            .typical_p = .95,
                            .top_n_sigma = 2.5,
                            .epsilon_cutoff = .004,
                            .eta_cutoff = .006,
                            .xtc = xtc,
                            .repetition_penalty = 1.2,
                            .frequency_penalty = .3,
                            .presence_penalty = .2,
                            .penalty_last_n = 4,
                            .prompt_size = 2,
                            .dry = dry,
                            .no_repeat_ngram_size = 3,
                            .logit_bias = biases,
                            .bad_words = {{{11}}},
                            .min_tokens = 9,
                            .stop_token_ids = {12},
                            .mask = mask};
    const Window text{.last_n = 4}, answer{.last_n = 4, .skip = 2};
    const auto pipeline_at = [&](const auto& temperature) {
        return Pipeline{LogitBias{biases},
                        BadWords{{{11}}},
                        NoRepeatNgram{3},
                        MinTokens{9, {12}, 2},
                        RepetitionPenalty{1.2, text},
                        FrequencyPenalty{.3, answer},
                        PresencePenalty{.2, answer},
                        dry,
                        TokenMask{mask},
                        temperature,
                        TopNSigma{2.5},
                        TopK{60},
                        TypicalP{.95},
                        TopP{.9},
                        MinP{.05},
                        EpsilonCutoff{.004},
                        EtaCutoff{.006},
                        xtc};
    };
    const auto check = [&](const auto& pipeline) {
        const auto expected = through(pipeline, Logits(logits), context);
        CHECK(possible(expected).size() > 5);
        CHECK(distance(through(settings, Logits(logits), context), expected) == 0);
        CHECK(distance(through(settings, softmax_of(logits), context),
                       through(pipeline, softmax_of(logits), context)) == 0);
    };
    check(pipeline_at(Temperature{.8}));
    settings.dynatemp_range = .3, settings.dynatemp_exponent = 2;
    check(pipeline_at(DynamicTemperature{.8, .3, 2}));
    settings.thinking = {.start = {7}, .end = {40}, .budget = 1};
    CHECK(possible(through(settings, Logits(logits), context)) == std::vector<Index>{40});
}

TEST_CASE("the order of llama.cpp is a pipeline with the temperature last", "[shaping]") {
    const Pipeline last{TopK{40}, TopP{.6}, Temperature{3}};
    CHECK(possible(through(last, Logits(logits))) == possible(through(Pipeline{TopK{40}, TopP{.6}}, Logits(logits))));
    CHECK(possible(through(last, Logits(logits))).size() <
          possible(through(SamplingParams{.temperature = 3, .top_k = 40, .top_p = .6}, Logits(logits))).size());
}

TEST_CASE("temperature 0 is the argmax of what bias, penalties and mask have left", "[shaping]") {
    const Index best = sorted(logits)[0], next = sorted(logits)[1];
    CHECK(possible(through(SamplingParams{.temperature = 0, .top_p = .9}, Logits(logits))) == std::vector<Index>{best});
    const SamplingParams banned{.temperature = 0, .logit_bias = {{static_cast<Token>(best), -infinity}}};
    CHECK(possible(through(banned, Logits(logits))) == std::vector<Index>{next});
    const SamplingParams penalised{.temperature = 0, .presence_penalty = 10};
    CHECK(possible(through(penalised, Logits(logits), {static_cast<Token>(best)})) == std::vector<Index>{next});
}

TEST_CASE("settings out of range are refused when they are used, and when a model is made of them", "[shaping]") {
    const auto model = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
    const auto check = [&](const SamplingParams& settings, const std::string& message) {
        CHECK_THROWS_WITH(through(settings, Logits(logits)), message);
        CHECK_THROWS_WITH(shaped(model, settings), message);
        CHECK_THROWS_WITH(Pipeline{settings}, message);
    };
    check({.temperature = -1}, "specsample::Temperature: temperature is -1, but must be a finite number >= 0");
    check({.top_k = -1}, "specsample::TopK: top_k is -1, but must be at least 0");
    check({.top_p = 0}, "specsample::TopP: top_p is 0, but must be in (0, 1]");
    check({.top_p = 2}, "specsample::TopP: top_p is 2, but must be in (0, 1]");
    check({.min_p = 2}, "specsample::MinP: min_p is 2, but must be in [0, 1]");
    check({.typical_p = 0}, "specsample::TypicalP: typical_p is 0, but must be in (0, 1]");
    check({.repetition_penalty = 0}, "specsample::RepetitionPenalty: penalty is 0, but must be a positive number");
    check({.frequency_penalty = infinity}, "specsample::FrequencyPenalty: penalty is inf, but must be a finite number");
    check({.presence_penalty = infinity}, "specsample::PresencePenalty: penalty is inf, but must be a finite number");
    check({.top_n_sigma = -1}, "specsample::TopNSigma: n is -1, but must be a finite number >= 0; 0 keeps everything");
    check({.epsilon_cutoff = 1}, "specsample::EpsilonCutoff: epsilon is 1, but must be in [0, 1)");
    check({.eta_cutoff = 1}, "specsample::EtaCutoff: epsilon is 1, but must be in [0, 1)");
    check({.xtc = {.probability = 2}}, "specsample::Xtc: probability is 2, but must be in [0, 1]");
    check({.dynatemp_range = -1}, "specsample::DynamicTemperature: range is -1, but must be a finite number >= 0");
    check({.dry = {.base = .5}}, "specsample::Dry: base is 0.5, but must be a finite number >= 1");
    check({.no_repeat_ngram_size = -1}, "specsample::NoRepeatNgram: size is -1, but must be at least 0");
    check({.bad_words = {{{}}}}, "specsample::BadWords: the length of a sequence is 0, but must be at least 1");
    check({.min_tokens = -1}, "specsample::SamplingParams: min_tokens is -1, but must be at least 0");
    check({.thinking = {.start = {1}}},
          "specsample::ThinkingBudget: the length of the end marker is 0, but must be at least 1");
    check({.penalty_last_n = -1}, "specsample::SamplingParams: penalty_last_n is -1, but must be at least 0");
    check({.prompt_size = -2},
          "specsample::SamplingParams: prompt_size is -2, but must be at least 0, or whole_prompt");
    check({.logit_bias = {{1, infinity}}},
          "specsample::LogitBias: a bias is inf, but must be a finite number, or -inf for a ban");
}

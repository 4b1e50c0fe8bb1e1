// The sampling parameters that users know, as one value with a stated order.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include <specsample/shaping/bans.hpp>
#include <specsample/shaping/cutoffs.hpp>
#include <specsample/shaping/dynamic_temperature.hpp>
#include <specsample/shaping/logit_bias.hpp>
#include <specsample/shaping/mask.hpp>
#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/repetition.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Sampling parameters as requests carry them. Each stage is off unless it is set, and costs nothing then.
///
///     SamplingParams{.temperature = .8, .top_k = 40, .top_p = .95, .min_p = .05}
///
/// The order: logit bias, bans (bad words, no-repeat n-grams, min_tokens), penalties (repetition, frequency, presence,
/// DRY), mask, thinking budget, temperature, top-n-sigma, top-k, typical-p, top-p, min-p, the epsilon and eta cut-offs,
/// XTC. What comes before the temperature changes the model's logits, at temperature 0 too. The parameters or the row
/// (Logits) give a temperature, not both. Temperature before the filters is the order of transformers and vLLM.
/// llama.cpp applies temperature last, as the Pipeline{TopK{40}, TypicalP{1}, TopP{.95}, MinP{.05}, Temperature{.8}} of
/// namespace filters does. vLLM applies min-p before top-k and top-p, transformers typical-p after all others.
///
/// Every parameter makes a row a function of the text before it, so that drafts are judged by the very rows that plain
/// decoding draws from. Mirostat and adaptive-p are no such functions: their state follows the draws, and a draft that
/// is rejected would leave its mark. Top-n-sigma or min-p keep the surprisal in bounds without a state.
///
/// @throws   std::invalid_argument for a setting out of range, or a second temperature, when a model or a pipeline is
///           made with these parameters, or a row is shaped
struct SamplingParams {
    double temperature = 1;     ///< 0 is the argmax, unless dynatemp_range is set
    Index top_k = 0;            ///< 0 keeps all
    double top_p = 1;           ///< 1 keeps all
    double min_p = 0;           ///< 0 keeps all
    double typical_p = 1;       ///< 1 keeps all
    double top_n_sigma = 0;     ///< 0 keeps all
    double epsilon_cutoff = 0;  ///< 0 keeps all
    double eta_cutoff = 0;      ///< 0 keeps all
    filters::Xtc xtc{};         ///< probability 0 keeps all

    double dynatemp_range = 0;     ///< how far the temperature follows the entropy; 0: it is the same everywhere
    double dynatemp_exponent = 1;  ///< as in DynamicTemperature

    double repetition_penalty = 1;                  ///< 1 changes nothing
    double frequency_penalty = 0;                   ///< 0 changes nothing
    double presence_penalty = 0;                    ///< 0 changes nothing
    Index penalty_last_n = filters::whole_context;  ///< last tokens that penalties count
    /// Leading tokens that frequency, presence and min_tokens skip, as in OpenAI and vLLM. The default is what Sampler
    /// is given to continue, whatever its size; an engine that shapes rows of its own sets it, or tells its memory.
    Index prompt_size = filters::whole_prompt;
    filters::Dry dry{};              ///< multiplier 0 changes nothing
    Index no_repeat_ngram_size = 0;  ///< 0 bans nothing

    std::vector<filters::Bias> logit_bias{};  ///< pairs of a token and the number added to its logit
    filters::BadWords bad_words{};            ///< sequences of tokens that are never written
    Index min_tokens = 0;                     ///< new tokens before one of stop_token_ids may come
    std::vector<Token> stop_token_ids{};      ///< tokens that end a text
    filters::ThinkingBudget thinking{};       ///< no start marker: no budget
    filters::AnyMask mask{};                  ///< as TokenMask{mask}; empty: all allowed

    /// Check every setting.
    /// @throws   std::invalid_argument for a setting out of range
    void check() const {
        for (const filters::Bias& bias : logit_bias) detail::check_bias(bias);
        for_each_stage([]<class Stage>(const Stage& stage) {
            if constexpr (requires { stage.check(); }) stage.check();
        });
    }

    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        for_each_stage([&](const auto& shaper) { shaper(row, context); });
    }

    /// Call f with every stage in order.
    template <class F>
    void for_each_stage(const F& f) const {
        detail::require(penalty_last_n >= 0, "SamplingParams", "penalty_last_n", penalty_last_n, "at least 0");
        detail::require(prompt_size >= filters::whole_prompt, "SamplingParams", "prompt_size", prompt_size,
                        "at least 0, or whole_prompt");
        detail::require(min_tokens >= 0, "SamplingParams", "min_tokens", min_tokens, "at least 0");
        const filters::Window text{penalty_last_n, 0}, answer{penalty_last_n, prompt_size};
        f(detail::AddBiases{logit_bias});
        f(bad_words);
        f(filters::NoRepeatNgram(no_repeat_ngram_size));
        f(detail::BanStops{min_tokens, stop_token_ids, prompt_size});
        f(filters::RepetitionPenalty(repetition_penalty, text));
        f(filters::FrequencyPenalty(frequency_penalty, answer));
        f(filters::PresencePenalty(presence_penalty, answer));
        f(dry);
        if (mask) f(mask);
        f(thinking);
        if (dynatemp_range == 0)
            f(filters::Temperature(temperature));
        else
            f(filters::DynamicTemperature{temperature, dynatemp_range, dynatemp_exponent});
        f(filters::TopNSigma(top_n_sigma));
        f(filters::TopK(top_k));
        f(filters::TypicalP(typical_p));
        f(filters::TopP(top_p));
        f(filters::MinP(min_p));
        f(filters::EpsilonCutoff(epsilon_cutoff));
        f(filters::EtaCutoff(eta_cutoff));
        f(xtc);
    }
};

}}  // namespace specsample

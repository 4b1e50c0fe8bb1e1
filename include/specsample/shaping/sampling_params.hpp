// The sampling parameters that users know, as one value with a stated order.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include <specsample/shaping/logit_bias.hpp>
#include <specsample/shaping/mask.hpp>
#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/truncation.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Sampling parameters as requests carry them. Each stage is off unless it is set, and costs nothing then.
///
///     SamplingParams{.temperature = .8, .top_k = 40, .top_p = .95, .min_p = .05}
///
/// The order: logit bias, penalties (repetition, frequency, presence), mask, temperature, top-k, typical-p, top-p,
/// min-p. The first three change the model's logits before any temperature divides them, at temperature 0 too. The
/// parameters or the row (Logits) give a temperature, not both. Temperature before the filters is the order of
/// transformers and vLLM. llama.cpp applies temperature last, as the Pipeline{TopK{40}, TypicalP{1}, TopP{.95},
/// MinP{.05}, Temperature{.8}} of namespace filters does. vLLM applies min-p before top-k and top-p, transformers
/// typical-p after all others.
///
/// @throws   std::invalid_argument for a setting out of range, or a second temperature, when a model or a pipeline is
///           made with these parameters, or a row is shaped
struct SamplingParams {
    double temperature = 1;  ///< 0 is the argmax
    Index top_k = 0;         ///< 0 keeps all
    double top_p = 1;        ///< 1 keeps all
    double min_p = 0;        ///< 0 keeps all
    double typical_p = 1;    ///< 1 keeps all

    double repetition_penalty = 1;                  ///< 1 changes nothing
    double frequency_penalty = 0;                   ///< 0 changes nothing
    double presence_penalty = 0;                    ///< 0 changes nothing
    Index penalty_last_n = filters::whole_context;  ///< last tokens that penalties count
    Index prompt_size = 0;  ///< leading tokens that frequency and presence skip, as in OpenAI and vLLM

    std::vector<filters::Bias> logit_bias{};  ///< pairs of a token and the number added to its logit
    filters::AnyMask mask{};                  ///< as TokenMask{mask}; empty: all allowed

    /// Check every setting.
    /// @throws   std::invalid_argument for a setting out of range
    void check() const {
        for (const filters::Bias& bias : logit_bias) detail::check_bias(bias);
        for_each_stage([](const auto&) {});
    }

    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        for_each_stage([&](const auto& shaper) { shaper(row, context); });
    }

    /// Call f with every stage in order.
    template <class F>
    void for_each_stage(const F& f) const {
        detail::require(penalty_last_n >= 0, "SamplingParams", "penalty_last_n", penalty_last_n, "at least 0");
        detail::require(prompt_size >= 0, "SamplingParams", "prompt_size", prompt_size, "at least 0");
        const filters::Window text{penalty_last_n, 0}, answer{penalty_last_n, prompt_size};
        f(detail::AddBiases{logit_bias});
        f(filters::RepetitionPenalty(repetition_penalty, text));
        f(filters::FrequencyPenalty(frequency_penalty, answer));
        f(filters::PresencePenalty(presence_penalty, answer));
        if (mask) f(mask);
        f(filters::Temperature(temperature));
        f(filters::TopK(top_k));
        f(filters::TypicalP(typical_p));
        f(filters::TopP(top_p));
        f(filters::MinP(min_p));
    }
};

}}  // namespace specsample

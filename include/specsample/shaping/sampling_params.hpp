// The settings that users know, as one value with a stated order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <specsample/shaping/logit_bias.hpp>
#include <specsample/shaping/mask.hpp>
#include <specsample/shaping/min_p.hpp>
#include <specsample/shaping/penalties.hpp>
#include <specsample/shaping/temperature.hpp>
#include <specsample/shaping/top_k.hpp>
#include <specsample/shaping/top_p.hpp>
#include <specsample/shaping/typical_p.hpp>

namespace specsample {

/// Sampling parameters as requests carry them: SamplingParams{.temperature = .8, .top_k = 40, .top_p = .95, .min_p =
/// .05}. Each stage is off unless it is set, and costs nothing then.
///
/// The order: logit bias, penalties (repetition, frequency, presence), mask, temperature, top-k, typical-p, top-p,
/// min-p. Temperature before the filters is the order of transformers and vLLM. llama.cpp has it last: there
/// Pipeline{TopK{40}, TypicalP{1}, TopP{.95}, MinP{.05}, Temperature{.8}} is the same. vLLM takes min-p before top-k
/// and top-p, transformers typical-p after all others.
///
/// @throws std::invalid_argument for a setting out of range, when a model or a pipeline is made of it or a row shaped
struct SamplingParams {
    double temperature = 1;  ///< 0 is the argmax
    Index top_k = 0;         ///< 0 keeps all
    double top_p = 1;
    double min_p = 0;
    double typical_p = 1;

    double repetition_penalty = 1;
    double frequency_penalty = 0;
    double presence_penalty = 0;
    Index penalty_last_n = filters::whole_context;  ///< tokens that penalties look back at
    Index prompt_size = 0;  ///< leading tokens that frequency and presence do not count, as in OpenAI's and vLLM's

    std::vector<filters::Bias> logit_bias{};
    std::function<std::span<const std::uint32_t>(std::span<const Token>)> mask{};  ///< as TokenMask; none allows all

    void check() const {
        for (const filters::Bias& bias : logit_bias) detail::check_bias(bias);
        for_each([](const auto&) {});
    }

    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        detail::add_biases(row, std::span<const filters::Bias>(logit_bias));
        for_each([&](const auto& shaper) { shaper(row, context); });
    }

  private:
    /// Every stage after the bias, in order.
    template <class F>
    void for_each(const F& f) const {
        const filters::Window text{penalty_last_n, 0}, answer{penalty_last_n, prompt_size};
        f(filters::RepetitionPenalty(repetition_penalty, text));
        f(filters::FrequencyPenalty(frequency_penalty, answer));
        f(filters::PresencePenalty(presence_penalty, answer));
        if (mask) f(filters::TokenMask(std::cref(mask)));
        f(filters::Temperature(temperature));
        f(filters::TopK(top_k));
        f(filters::TypicalP(typical_p));
        f(filters::TopP(top_p));
        f(filters::MinP(min_p));
    }
};

}  // namespace specsample

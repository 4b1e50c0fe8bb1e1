// Penalties on tokens that the context has already: evaluated for every drafted position by itself, with what was
// drafted before it.
//
// They act on logits, and on ln p of a row of probabilities. A negative frequency or presence penalty is a reward.
// Engines differ in what they count: transformers and vLLM give the repetition penalty prompt and text, OpenAI and vLLM
// give the other two the text alone (Window{.skip = prompt.size()}), llama.cpp gives all three the last 64 tokens
// (Window{.last_n = 64}).
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample {

namespace filters {

/// z / penalty where z > 0, z * penalty elsewhere, for every token of the window: once, however often it occurs. 1
/// changes nothing.
///
/// Keskar et al.: "CTRL" (arXiv:1909.05858), section 4.1, with the sign handled as transformers does.
///
/// @cost   O(window), and one copy of a row that is still the model's
class RepetitionPenalty {
  public:
    /// @throws std::invalid_argument unless penalty is a positive number
    explicit RepetitionPenalty(double penalty, Window window = {}) : penalty_(penalty), window_(window) {
        detail::require(detail::is_positive(penalty), "RepetitionPenalty", "penalty", penalty, "a positive number");
        window.check();
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        if (penalty_ == 1) return;
        detail::for_counts(row, window_.of(context), [&](Index place, Index) {
            Value& logit = detail::logit_at(row, place);
            const auto z = static_cast<double>(logit);
            logit = static_cast<Value>(z > 0 ? z / penalty_ : z * penalty_);
        });
    }

  private:
    double penalty_;
    Window window_;
};

/// z - penalty * count, count how often the window has the token. 0 changes nothing. As in OpenAI's interface.
/// @cost   as RepetitionPenalty
class FrequencyPenalty {
  public:
    /// @throws std::invalid_argument unless penalty is finite
    explicit FrequencyPenalty(double penalty, Window window = {}) : penalty_(penalty), window_(window) {
        detail::require(detail::is_finite(penalty), "FrequencyPenalty", "penalty", penalty, "a finite number");
        window.check();
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        if (penalty_ == 0) return;
        detail::for_counts(row, window_.of(context), [&](Index place, Index count) {
            detail::add_to_logit(row, place, -penalty_ * static_cast<double>(count));
        });
    }

  private:
    double penalty_;
    Window window_;
};

/// z - penalty for every token that the window has. 0 changes nothing. As in OpenAI's interface.
/// @cost   as RepetitionPenalty
class PresencePenalty {
  public:
    /// @throws std::invalid_argument unless penalty is finite
    explicit PresencePenalty(double penalty, Window window = {}) : penalty_(penalty), window_(window) {
        detail::require(detail::is_finite(penalty), "PresencePenalty", "penalty", penalty, "a finite number");
        window.check();
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        if (penalty_ == 0) return;
        detail::for_counts(row, window_.of(context),
                           [&](Index place, Index) { detail::add_to_logit(row, place, -penalty_); });
    }

  private:
    double penalty_;
    Window window_;
};
}  // namespace filters

}  // namespace specsample

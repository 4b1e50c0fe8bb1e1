// Penalties on tokens that the context already has, evaluated for every drafted position with the tokens drafted before
// it.
//
// Penalties act on logits, or on ln p of a row of probabilities. A negative frequency or presence penalty is a reward.
// Engines count different tokens: transformers and vLLM apply the repetition penalty to prompt and text, OpenAI and
// vLLM apply the other two to the text alone (Window{.skip = prompt.size()}), llama.cpp applies all three to the last
// 64 tokens (Window{.last_n = 64}). A logit that the row's scalar cannot hold is cut to a finite number that it can
// hold, as by LogitBias: no penalty bans a token.
#pragma once

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Repetition penalty: lowers the logit z of every token of the window, once, however often it occurs.
///
///     z / penalty where z > 0, z * penalty elsewhere;   1 changes nothing
///
/// @cost     O(window), and one copy of a row that is still in the model's memory
/// @source   Keskar et al.: "CTRL" (arXiv:1909.05858), section 4.1, with the sign handled as transformers does
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
            detail::change_logit(row, place, [&](double z) { return z > 0 ? z / penalty_ : z * penalty_; });
        });
    }

    /// Tell `outlook` what this penalty does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (penalty_ != 1) detail::foresee(outlook, window_.of(context));
    }

  private:
    double penalty_;
    Window window_;
};

/// Frequency penalty, as in OpenAI's interface: lowers the logit z of every token by how often the window has it.
///
///     z - penalty * count;   0 changes nothing
///
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

    /// Tell `outlook` what this penalty does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (penalty_ != 0) detail::foresee(outlook, window_.of(context));
    }

  private:
    double penalty_;
    Window window_;
};

/// Presence penalty, as in OpenAI's interface: lowers the logit z of every token of the window, once.
///
///     z - penalty;   0 changes nothing
///
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

    /// Tell `outlook` what this penalty does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (penalty_ != 0) detail::foresee(outlook, window_.of(context));
    }

  private:
    double penalty_;
    Window window_;
};

}  // namespace filters

}}  // namespace specsample

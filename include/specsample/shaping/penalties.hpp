// Penalties on tokens that the context already has, evaluated for every drafted position with the tokens drafted before
// it.
//
// Penalties act on logits, or on ln p of a row of probabilities. A negative frequency or presence penalty is a reward.
// Engines count different tokens: transformers and vLLM apply the repetition penalty to prompt and text, OpenAI and
// vLLM apply the other two to the text alone (Window{.skip = whole_prompt}), llama.cpp applies all three to the last
// 64 tokens (Window{.last_n = 64}). A logit that the row's scalar cannot hold is cut to a finite number that it can
// hold, as by LogitBias: no penalty bans a token.
#pragma once

#include <span>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/change.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The penalties on the tokens of a window.
template <Penalty::Kind kind>
class WindowPenalty {
  public:
    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        const std::span<const Token> tokens = window_.of(context, row.prompt_size());
        if (amount_ == none || tokens.empty()) return;
        penalise(row, row.scratch().windows.count(tokens), {kind, amount_, row.temperature()});
    }

    /// Tell `outlook` what this penalty does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (amount_ == none) return;
        for (const Token token : window_.of(context, outlook.prompt_size())) outlook.change(token);
    }

  protected:
    WindowPenalty(std::string_view name, double amount, filters::Window window) : amount_(amount), window_(window) {
        require(divides ? is_positive(amount) : is_finite(amount), name, "penalty", amount,
                divides ? "a positive number" : "a finite number");
        window.check();
    }

  private:
    static constexpr bool divides = kind == Penalty::Kind::repetition;
    static constexpr double none = divides ? 1 : 0;

    double amount_;
    filters::Window window_;
};

}  // namespace detail

namespace filters {

/// Repetition penalty: lowers the logit z of every token of the window, once, however often it occurs.
///
///     z / penalty where z > 0, z * penalty elsewhere;   1 changes nothing
///
/// @cost     O(1) for each token by which the window differs from that of the row before. The row is copied if a later
///           step needs all its logits: a top-k does not, unless the penalty raises logits
/// @source   Keskar et al.: "CTRL" (arXiv:1909.05858), section 4.1, with the sign handled as transformers does
class RepetitionPenalty : public detail::WindowPenalty<detail::Penalty::Kind::repetition> {
  public:
    /// @throws std::invalid_argument unless penalty is a positive number
    explicit RepetitionPenalty(double penalty, Window window = {})
        : WindowPenalty("RepetitionPenalty", penalty, window) {}
};

/// Frequency penalty, as in OpenAI's interface: lowers the logit z of every token by how often the window has it.
///
///     z - penalty * count;   0 changes nothing
///
/// @cost   as RepetitionPenalty
class FrequencyPenalty : public detail::WindowPenalty<detail::Penalty::Kind::frequency> {
  public:
    /// @throws std::invalid_argument unless penalty is finite
    explicit FrequencyPenalty(double penalty, Window window = {})
        : WindowPenalty("FrequencyPenalty", penalty, window) {}
};

/// Presence penalty, as in OpenAI's interface: lowers the logit z of every token of the window, once.
///
///     z - penalty;   0 changes nothing
///
/// @cost   as RepetitionPenalty
class PresencePenalty : public detail::WindowPenalty<detail::Penalty::Kind::presence> {
  public:
    /// @throws std::invalid_argument unless penalty is finite
    explicit PresencePenalty(double penalty, Window window = {}) : WindowPenalty("PresencePenalty", penalty, window) {}
};

}  // namespace filters

}}  // namespace specsample

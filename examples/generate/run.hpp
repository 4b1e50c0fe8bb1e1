// One text, written round by round, and what it took.
#pragma once

#include <functional>
#include <vector>

#include "generate/language_model.hpp"

/// A text and its figures.
struct Run {
    std::vector<specsample::Token> tokens{};  ///< without the prompt
    specsample::Finish finish = specsample::Finish::budget;
    specsample::Tally tally{};
    specsample::Index lookahead = 0;
    double seconds = 0;  ///< in all, without showing the rounds
    double draft_seconds = 0;
    double target_seconds = 0;
    long draft_passes = 0;

    double sampler_seconds() const { return seconds - draft_seconds - target_seconds; }
    double tokens_per_second() const { return static_cast<double>(tokens.size()) / seconds; }
};

/// Called after every round with the drafted token that was rejected, or null.
using OnRound = std::function<void(const specsample::Round&, const specsample::Token*)>;

/// Write a text with an engine's own loop: ask for a round, commit it, show it, until it ends.
inline Run run(LanguageModel draft, LanguageModel target, specsample::Options options, const specsample::Limits& limits,
               std::vector<specsample::Token> text, const OnRound& on_round) {
    using namespace specsample;
    const auto prompt_length = static_cast<Index>(text.size());
    Run result{.lookahead = options.lookahead};
    draft.prefill(text);
    target.prefill(text);
    Sampler sampler(std::ref(draft), std::ref(target), options);
    Limits left = limits;
    for (bool ended = false; !ended;) {
        const auto start = static_cast<Index>(text.size());
        left.max_new_tokens = limits.max_new_tokens - (start - prompt_length);
        if (left.max_new_tokens <= 0 || start >= limits.max_length) {
            result.finish = left.max_new_tokens <= 0 ? Finish::budget : Finish::length;
            break;
        }
        const Stopwatch watch;
        const Round round = sampler.step(text, left);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        result.seconds += watch.seconds();
        result.tally.record(round.counts());
        const auto rejected = target.last_prefix().subspan(static_cast<std::size_t>(start + round.accepted));
        on_round(round, round.last == Last::recovered && !rejected.empty() ? rejected.data() : nullptr);
        ended = std::ranges::find(limits.stop_tokens, text.back()) != limits.stop_tokens.end();
        if (ended) result.finish = Finish::stop;
    }
    result.tokens.assign(text.begin() + prompt_length, text.end());
    result.draft_seconds = draft.seconds();
    result.target_seconds = target.seconds();
    result.draft_passes = draft.passes();
    return result;
}

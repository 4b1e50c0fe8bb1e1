// One text, written round by round, and what it took.
#pragma once

#include <functional>
#include <vector>

#include "generate/arguments.hpp"
#include "generate/language_model.hpp"
#include "generate/lookahead.hpp"

/// A text and its figures.
struct Run {
    std::vector<specsample::Token> tokens{};  ///< without the prompt
    specsample::Finish finish = specsample::Finish::budget;
    specsample::Tally tally{};
    specsample::Index lookahead = 0;  ///< most tokens of a draft
    bool adapts = false;              ///< was it up to a length?
    double seconds = 0;               ///< in all, without showing the rounds
    double draft_seconds = 0;
    double target_seconds = 0;
    long draft_passes = 0;

    double sampler_seconds() const { return seconds - draft_seconds - target_seconds; }
    double tokens_per_second() const { return static_cast<double>(tokens.size()) / seconds; }
};

/// Called after every round with the drafted token that was rejected, or null.
using OnRound = std::function<void(const specsample::Round&, const specsample::Token*)>;

/// Write a text with an engine's own loop: ask for a round, commit it, show it, until it ends.
template <class Drafter>
void write(Run& result, std::vector<specsample::Token>& text, Drafter drafter, LanguageModel& target,
           const specsample::Options& options, Lookahead length, const specsample::Limits& limits,
           const OnRound& on_round) {
    using namespace specsample;
    const auto prompt_length = static_cast<Index>(text.size());
    Sampler sampler(std::move(drafter), std::ref(target), options, TokenVerification{}, std::ref(length));
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
        length.record(round.counts());
        result.seconds += watch.seconds();
        result.tally.record(round.counts());
        const auto rejected = target.last_prefix().subspan(static_cast<std::size_t>(start + round.accepted));
        on_round(round, round.last == Last::recovered && !rejected.empty() ? rejected.data() : nullptr);
        ended = std::ranges::find(limits.stop_tokens, text.back()) != limits.stop_tokens.end();
        if (ended) result.finish = Finish::stop;
    }
}

/// A text after `text`.
inline Run run(LanguageModel draft, LanguageModel target, DraftKind kind, const specsample::Options& options,
               const Lookahead& length, const specsample::Limits& limits, std::vector<specsample::Token> text,
               const OnRound& on_round) {
    using namespace specsample;
    const auto prompt_length = static_cast<Index>(text.size());
    Run result{.lookahead = options.lookahead, .adapts = length.adapts()};
    draft.prefill(text);
    target.prefill(text);
    const auto write_with = [&](auto drafter) {
        write(result, text, std::move(drafter), target, options, length, limits, on_round);
    };
    // A longer match says more: where a model may be asked instead, one token is not enough.
    if (kind == DraftKind::lookup) write_with(LookupDraft());
    if (kind == DraftKind::either) write_with(FirstOf(LookupDraft({.min_match = 2}), std::ref(draft)));
    if (kind == DraftKind::model || kind == DraftKind::none) write_with(std::ref(draft));
    result.tokens.assign(text.begin() + prompt_length, text.end());
    result.draft_seconds = draft.seconds();
    result.target_seconds = target.seconds();
    result.draft_passes = draft.passes();
    return result;
}

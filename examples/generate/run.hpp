// Writes one text round by round, and records its figures.
#pragma once

#include <functional>
#include <vector>

#include "generate/drafts.hpp"
#include "generate/language_model.hpp"
#include "generate/pace.hpp"
#include "generate/rules.hpp"

/// A text and its figures.
struct Run {
    std::vector<specsample::Token> tokens{};  ///< without the prompt
    specsample::FinishReason finish = specsample::FinishReason::budget;
    specsample::Tally tally{};
    specsample::Index lookahead = 0;  ///< depth of the longest draft
    bool is_steady = true;            ///< true if all drafts are chains of the same length
    double seconds = 0;               ///< total, without the time to show the rounds
    double draft_seconds = 0;
    double target_seconds = 0;
    long draft_passes = 0;
    specsample::Index target_pages = 0;  ///< of key-value caches, at the end
    specsample::Index draft_pages = 0;

    double sampler_seconds() const { return seconds - draft_seconds - target_seconds; }
    double tokens_per_second() const { return static_cast<double>(tokens.size()) / seconds; }
};

/// Called after every round with the drafted token that was rejected, or null.
using OnRound = std::function<void(const specsample::Round&, const specsample::Token*)>;

/// Writes a text with an engine's own loop: ask for a round, append it, show it, until the text ends.
template <class Rule>
void write(Run& result, std::vector<specsample::Token>& text, const Drafts& drafts, Pace pace, LanguageModel& target,
           Rule rule, const specsample::Options& options, const specsample::Limits& limits, const OnRound& on_round) {
    using namespace specsample;
    const auto prompt_length = static_cast<Index>(text.size());
    Sampler sampler(std::ref(pace), std::ref(target), options, rule, std::ref(pace));
    Limits left = limits;
    for (bool ended = false; !ended;) {
        const auto start = static_cast<Index>(text.size());
        left.max_new_tokens = limits.max_new_tokens - (start - prompt_length);
        if (left.max_new_tokens <= 0 || start >= limits.max_length) {
            result.finish = left.max_new_tokens <= 0 ? FinishReason::budget : FinishReason::length;
            break;
        }
        const double drafting_before = drafts.work_seconds();
        const Stopwatch watch;
        const WorkStopwatch work;
        pace.begin(text, options.lookahead);
        const Round round = sampler.step(text, left);
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        target.keep(text);
        result.seconds += watch.seconds();
        const double seconds = work.seconds(), drafting = drafts.work_seconds() - drafting_before;
        pace.record(round.counts());
        pace.observe(round.proposed, drafting, seconds - drafting);
        result.tally.record(round.counts());
        const auto drafted = target.last_prefix();
        const auto first = static_cast<std::size_t>(start + round.accepted);
        const bool shows = round.last == LastToken::recovered && first < drafted.size();
        on_round(round, shows ? &drafted[first] : nullptr);
        ended = std::ranges::find(limits.stop_tokens, text.back()) != limits.stop_tokens.end();
        if (ended) result.finish = FinishReason::stop;
    }
}

/// The request for a run.
struct Request {
    RuleKind rule = RuleKind::token;
    specsample::Options options{};
    bool adapts = false;  ///< options.lookahead is an upper limit, and each round drafts as much as pays
    specsample::Limits limits{};
};

/// Writes the text that follows `text`.
inline Run run(const Drafts& drafts, LanguageModel target, const Request& request, std::vector<specsample::Token> text,
               const OnRound& on_round) {
    using namespace specsample;
    const auto prompt_length = static_cast<Index>(text.size());
    Run result{.lookahead = request.options.lookahead, .is_steady = !request.adapts && drafts.are_chains()};
    target.prefill(text);
    const Stopwatch prefill;
    drafts.prefill(text);
    result.seconds = prefill.seconds();  // plain decoding does without
    const double drafted_before = drafts.seconds();
    const long passes_before = drafts.passes();
    with_rule(request.rule, [&](auto rule) {
        write(result, text, drafts, drafts.pace(request.adapts), target, rule, request.options, request.limits,
              on_round);
    });
    result.tokens.assign(text.begin() + prompt_length, text.end());
    result.draft_seconds = drafts.seconds() - drafted_before;
    result.target_seconds = target.seconds();
    result.draft_passes = drafts.passes() - passes_before;
    result.target_pages = target.engine()->pages().in_use();
    result.draft_pages = drafts.pages();
    return result;
}

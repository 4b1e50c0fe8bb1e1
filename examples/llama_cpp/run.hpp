// Writes one text round by round, and records its figures.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

#include "generate/rules.hpp"
#include "generate/stopwatch.hpp"
#include "llama_cpp/drafter.hpp"
#include "llama_cpp/interrupt.hpp"
#include "llama_cpp/lookahead.hpp"
#include "llama_cpp/text_model.hpp"

/// The reason why a text ended.
enum class Ended { not_yet, stop, budget, context, interrupted, failed };

/// A text and its figures.
struct TextRun {
    std::vector<specsample::Token> tokens{};  ///< without the prompt
    Ended ended = Ended::not_yet;
    std::string error{};              ///< the message, if the text failed
    specsample::Tally tally{};        ///< all rounds after the first token, which comes from the prompt's own pass
    specsample::Index lookahead = 0;  ///< depth of the longest draft
    bool is_steady = true;            ///< true if all drafts are chains of the same length
    double seconds = 0;               ///< time of those rounds, without showing them
    double draft_seconds = 0;
    double target_seconds = 0;

    double sampler_seconds() const { return seconds - draft_seconds - target_seconds; }
    double tokens_per_second() const { return seconds > 0 ? static_cast<double>(tally.tokens) / seconds : 0; }
};

/// The request for a run.
struct TextRequest {
    std::vector<specsample::Token> prompt{};
    specsample::Options options{};
    TextLookahead length{};
    specsample::Limits limits{};
};

/// Called after every round with the drafted token that was rejected, or null.
using OnTextRound = std::function<void(const specsample::Round&, const specsample::Token*)>;

/// Adds the time until the end of the block to a sum, also if it is left by an exception.
class Adding {
  public:
    explicit Adding(double& sum) : sum_(sum) {}
    ~Adding() { sum_ += watch_.seconds(); }
    Adding(const Adding&) = delete;
    Adding& operator=(const Adding&) = delete;

  private:
    double& sum_;
    Stopwatch watch_;
};

/// A target and its drafter.
struct Writers {
    TextModel target;
    std::optional<TextModel> draft{};  ///< none: lookup in the text drafts
    DraftShape tree{};

    TextDrafter drafter() { return draft ? by_model(*draft, tree) : by_lookup(); }
};

/// Whether a text of so many tokens, prompt included, has ended; stores the reason in the run.
inline bool has_ended(TextRun& run, specsample::Index length, const specsample::Limits& limits) {
    if (run.ended != Ended::not_yet) return true;
    if (length >= limits.max_length) run.ended = Ended::context;
    if (std::ssize(run.tokens) >= limits.max_new_tokens) run.ended = Ended::budget;
    if (interrupted()) run.ended = Ended::interrupted;
    return run.ended != Ended::not_yet;
}

inline void append(TextRun& run, const specsample::Round& round) {
    run.tokens.insert(run.tokens.end(), round.tokens.begin(), round.tokens.end());
    if (round.end == specsample::RoundEnd::stop_token) run.ended = Ended::stop;
}

/// Writes the first token. The pass that reads a prompt starts from an empty cache and has no draft behind it, as in
/// decoding without drafts: engines compute long batches in another order, and a text should not depend on its drafter,
/// nor on earlier texts.
template <class Rule>
void read_prompt(TextRun& run, Writers& writers, Rule rule, const TextRequest& request, const OnTextRound& on_round) {
    writers.target.forget();
    if (writers.draft) {
        writers.draft->forget();
        (*writers.draft)(request.prompt, 1);
    }
    specsample::Options options = request.options;
    options.lookahead = 0;
    specsample::Sampler sampler(by_lookup(), std::ref(writers.target), options, rule);
    const specsample::Round round = sampler.step(request.prompt, request.limits);
    append(run, round);
    on_round(round, nullptr);
}

/// Writes the rest with an engine's own loop: ask for a round, append it, show it, until the text ends.
template <class Rule>
void write(TextRun& run, TextDrafter drafter, TextModel& target, Rule rule, const TextRequest& request,
           const OnTextRound& on_round) {
    using namespace specsample;
    std::vector<Token> text = request.prompt;
    text.insert(text.end(), run.tokens.begin(), run.tokens.end());
    TextLookahead length = request.length;
    Sampler sampler(std::move(drafter), std::ref(target), request.options, rule, std::ref(length));
    while (!has_ended(run, std::ssize(text), request.limits)) {
        const auto start = static_cast<Index>(text.size());
        Limits left = request.limits;
        left.max_new_tokens -= std::ssize(run.tokens);
        const double before = run.seconds;
        const Round round = [&] {
            const Adding adding(run.seconds);
            return sampler.step(text, left);
        }();
        text.insert(text.end(), round.tokens.begin(), round.tokens.end());
        append(run, round);
        run.tally.record(round.counts());
        length.observe(round.depth, run.seconds - before);
        length.record(round.counts());
        const auto drafted = target.last_prefix();
        const auto first = static_cast<std::size_t>(start + round.accepted);
        const bool replaces = round.last == LastToken::recovered || round.last == LastToken::matched;
        on_round(round, replaces && first < drafted.size() ? &drafted[first] : nullptr);
    }
}

/// Writes the text after a prompt. However it ends, the tokens written so far are kept.
/// @param writers   by value, so that its stopwatches start at zero
template <class Rule>
TextRun run(Writers writers, Rule rule, const TextRequest& request, const OnTextRound& on_round) {
    TextRun result{.lookahead = request.options.lookahead,
                   .is_steady = !request.length.adapts() && writers.tree.children.empty()};
    double before_target = 0, before_draft = 0;
    try {
        if (!has_ended(result, std::ssize(request.prompt), request.limits))
            read_prompt(result, writers, rule, request, on_round);
        before_target = writers.target.seconds();
        before_draft = writers.draft ? writers.draft->seconds() : 0;
        write(result, writers.drafter(), writers.target, rule, request, on_round);
    } catch (const Interrupted&) {
        result.ended = Ended::interrupted;
    } catch (const std::exception& error) {
        result.ended = Ended::failed;
        result.error = error.what();
    }
    result.target_seconds = writers.target.seconds() - before_target;
    result.draft_seconds = writers.draft ? writers.draft->seconds() - before_draft : 0;
    return result;
}

// Sampler: the loop that drafts, scores, verifies and commits rounds until the text ends. It does without Eigen: what
// reads rows is in headers of their own, for rows that are types (sampler/sampler.hpp) and for rows that are values
// (sampler_values.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/one_call.hpp>
#include <specsample/drafters/proposer.hpp>
#include <specsample/length/length.hpp>
#include <specsample/models/shared.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/sampler/options.hpp>
#include <specsample/sampler/requirements.hpp>
#include <specsample/sampler/scorer.hpp>
#include <specsample/sampler/written.hpp>
#include <specsample/verify/rules.hpp>
#include <specsample/verify/score.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The on_token that is used if a caller gives none.
struct NoCallback {
    void operator()(Token) const {}
};

/// A callback that takes scores instead of tokens.
template <class OnToken>
concept TakesScores = !std::invocable<OnToken&, Token> && std::invocable<OnToken&, const TokenScore&>;

/// A valid on_token. A callback that takes tokens is not tried with scores, because its body may not compile with
/// scores.
template <class OnToken>
concept TokenCallback = Callback<OnToken, Token> || Callback<OnToken, TokenScore>;

/// The drafter of a sampler; a stand-in if a requirement has failed already.
template <class Draft, bool usable>
struct DraftsOf {
    struct type {
        using Distribution = PointMass;
        explicit type(const Draft&) {}
    };
};
template <class Draft>
struct DraftsOf<Draft, true> : DrafterOf<Draft> {};

}  // namespace detail

/// Speculative sampling with two models: the text follows the target's distribution exactly, whatever the draft model.
/// One thread at a time may call a sampler. Two samplers share nothing but what both were given by std::ref.
///
///     Sampler sampler(draft, target, {.lookahead = 4, .seed = 42});
///     std::vector<Token> text = sampler.generate(prompt, {.max_new_tokens = 64});
///
/// Models are held by value; std::ref shares one. A model that has rollback(length) is rolled back if its prefix does
/// not extend the previous prefix, and before its first call; such an object cannot be both draft and target. The text
/// depends on (seed, request, prompt, models, lookahead, length) alone, under block verification also on limits that
/// shorten drafts (Limits); under a match rule, on (seed, request, prompt, target). So every text and every step begins
/// with the length as it was given, but a length given by std::ref keeps what it has learnt. A call of a sampler during
/// another of its calls is refused.
///
/// @tparam Draft     draft(prefix) -> row, or -> Token (a point mass); or a Drafter, for trees
/// @tparam Target    target(prefix) -> row, target(prefix, n) -> n rows in one pass, target(prefix, tree) -> the rows
///                   of a TreeModel in one pass, or any of these together. The rows of draft and target are both
///                   types, or both values (Row, sampler_values.hpp)
/// @tparam Rule      how drafts are judged; lossless rules keep the target's distribution
/// @tparam Lengths   how many tokens each round may draft: a Length, which is told of every committed round
template <class Draft, class Target, class Rule = TokenVerification, class Lengths = FixedLength>
class Sampler {
    static_assert(sizeof(detail::Requirements<Draft, Target>) > 0);  // says in a sentence what is wrong
    static_assert(Length<detail::Unwrapped<Lengths>>,
                  "specsample::Sampler: length must have next(most) and record(counts), as FixedLength has them");
    static_assert(sizeof(detail::RuleRequirements<Rule>) > 0);
    static constexpr bool usable = detail::Requirements<Draft, Target>::all;
    using Drafts = typename detail::DraftsOf<Draft, usable>::type;

  public:
    /// Make a sampler of two models.
    /// @throws std::invalid_argument unless 0 <= options.lookahead <= most_drafted, if a lookahead above 0 would cut
    ///         the trees of a drafter with a depth of its own, and if a model with rollback is held twice by std::ref
    Sampler(Draft draft, Target target, Options options = {}, Rule rule = {}, Lengths length = {})
        : drafter_(Drafts(std::move(draft))),
          scorer_(std::move(target)),
          options_(options),
          rule_(std::move(rule)),
          given_length_(std::move(length)) {
        detail::require_length("Sampler", "options.lookahead", options.lookahead, 0);
        if (const Index depth = drafter_.depth(); options.lookahead > 0 && options.lookahead < depth)
            detail::invalid("Sampler", "options.lookahead", options.lookahead,
                            "0, or at least the depth of the drafter's trees, " + detail::to_text(depth));
        detail::SharedModels models("Sampler");
        models.add(drafter_);
        models.add(scorer_);
        tally_.reserve(std::min<Index>(options.lookahead, 64));  // longer drafts grow it once they are made
    }

    /// Write a text.
    ///
    /// @param prompt     token ids of any integral type; may be empty, and may be written {1, 2, 3}
    /// @param limits     where the text ends, and which request it is
    /// @param on_token   called with each token as it is written, before the token is counted. If it returns false, or
    ///                   a value that converts to false, the text ends after that token. If it throws, the token and
    ///                   earlier tokens stay in an extended text, and their round is not counted. If it takes a
    ///                   `const TokenScore&`, it also gets the log-probability in the target's row, the margin and the
    ///                   limits.top_logprobs likeliest tokens, at one pass per token
    /// @returns          the new tokens, why they ended, and the tally
    /// @throws           Fault, with the tokens written so far, on bad rows and on a stop token outside the vocabulary;
    ///                   std::invalid_argument on bad limits and on a prompt with an invalid id; anything that the
    ///                   models and on_token throw
    template <class Prompt, class OnToken = detail::NoCallback>
    [[nodiscard]] Generation generate(const Prompt& prompt, const Limits& limits = {}, OnToken&& on_token = {}) {
        static_assert(sizeof(detail::PromptRequirement<Prompt>) > 0);
        Generation result;
        if constexpr (detail::TokenIds<Prompt>) {
            const std::span ids(prompt);
            detail::require_memory("Sampler", "prompt", ids);
            std::vector<Token> text;
            text.reserve(ids.size());
            for (const auto id : ids) text.push_back(detail::checked_token(id));
            result.finish = run(text, limits, on_token, &result.tally);
            result.tokens.assign(text.begin() + std::ssize(ids), text.end());
        }
        return result;
    }

    /// Write a text after a prompt written {1, 2, 3}.
    template <class OnToken = detail::NoCallback>
    [[nodiscard]] Generation generate(std::initializer_list<Token> prompt, const Limits& limits = {},
                                      OnToken&& on_token = {}) {
        return generate(std::span(prompt), limits, std::forward<OnToken>(on_token));
    }

    /// Continue a text in place. Committed rounds are appended as they come, so they survive any exception.
    /// @returns   why the text ended; everything else is as in generate
    template <class OnToken = detail::NoCallback>
    [[nodiscard]] FinishReason extend(std::vector<Token>& text, const Limits& limits = {}, OnToken&& on_token = {}) {
        return run(text, limits, on_token, nullptr);
    }

    /// Make one round after a text; the caller appends its tokens. Every step begins with the length as it was given; a
    /// length given by std::ref adapts if the caller records the round's counts in it.
    /// @returns   the round; its tokens point into the sampler until its next call
    /// @throws    as generate; std::invalid_argument if limits leave no room for a token
    [[nodiscard]] Round step(std::span<const Token> text, const Limits& limits = {}) {
        detail::check_limits(limits, text);
        return step(text, limits, rng_of(limits, static_cast<Index>(text.size())));
    }

    /// Make one round with the caller's random source, such as GeneratorRng over a generator.
    template <RandomSource Source>
    [[nodiscard]] Round step(std::span<const Token> text, const Limits& limits, const Source& rng) {
        const detail::OneCall::Guard guard(call_, "Sampler");
        detail::check_limits(limits, text);
        begin_text(limits.prompt_size.value_or(Index{0}));
        const Round result = round<false>(given_length_, text, limits, limits.max_new_tokens, limits.until, rng);
        if (result.fault) detail::raise(Fault(*result.fault, {}));
        return result;
    }

    /// Return the counts of all rounds that generate and extend have committed, and the causes of rounds with bad data.
    const Tally& tally() const { return tally_; }

  private:
    /// True if drafts may be cut to the budget that is left, because this changes no token: under a match rule, whose
    /// tokens do not depend on the draft, or under a rule that does not look past the tokens it keeps, with a drafter
    /// whose short draft is the beginning of its long draft.
    static constexpr bool budget_bounds_draft = requires {
        requires bool(Rule::drafter_invariant);
    } || (requires { requires !bool(Rule::looks_ahead); } && detail::cut_is_prefix<Drafts>);

    [[gnu::always_inline]] RoundRng rng_of(const Limits& limits, Index start) const {
        return RoundRng(limits.seed ? *limits.seed : options_.seed, limits.request, start);
    }

    /// Begin to work on a text that the models may not know.
    [[gnu::always_inline]] void begin_text(Index prompt_size) {
        known_ = 0;
        const detail::TextBegins begins{prompt_size};
        begins(drafter_), begins(scorer_);
    }

    /// Make rounds until the text ends.
    template <class OnToken>
    FinishReason run(std::vector<Token>& text, const Limits& limits, OnToken& on_token, Tally* of_this_text) {
        static_assert(
            detail::TokenCallback<OnToken>,
            "specsample::Sampler: on_token must be callable with a Token, or a `const TokenScore&`, and return "
            "nothing, or false to end the text");
        const detail::OneCall::Guard guard(call_, "Sampler");
        detail::check_limits(limits, text);
        const std::size_t begin = text.size();
        begin_text(limits.prompt_size.value_or(std::ssize(text)));
        Lengths own_length = given_length_;
        detail::Unwrapped<Lengths>& length = own_length;
        detail::Written written(limits.until);
        for (;;) {
            const auto start = static_cast<Index>(text.size());
            const Index left = limits.max_new_tokens - (start - static_cast<Index>(begin));
            if (left == 0) return FinishReason::budget;
            if (start == limits.max_length) return FinishReason::length;
            Round made = round<detail::TakesScores<OnToken>>(length, text, limits, left, written.of_round(),
                                                             rng_of(limits, start));
            if (made.fault) {
                tally_.record(made.counts());
                detail::raise(Fault(*made.fault, {text.begin() + static_cast<Index>(begin), text.end()}));
            }
            const bool go_on = write(made, text, on_token);
            tally_.record(made.counts());
            length.record(made.counts());
            if (of_this_text != nullptr) of_this_text->record(made.counts());
            known_ = start;
            written.commit(made.tokens);
            if (made.end == RoundEnd::stop_token) return FinishReason::stop;
            if (made.end == RoundEnd::included || made.end == RoundEnd::excluded) return FinishReason::until;
            if (!go_on) return FinishReason::callback;
        }
    }

    /// Append a round's tokens one by one. Return false if on_token ended the text; the round is then cut there.
    template <class OnToken>
    bool write(Round& made, std::vector<Token>& text, OnToken& on_token) {
        const auto told = [&](std::size_t i) -> const auto& {
            if constexpr (detail::TakesScores<OnToken>)
                return scores_.tokens[i];
            else
                return made.tokens[i];
        };
        for (std::size_t i = 0; i < made.tokens.size(); ++i) {
            text.push_back(made.tokens[i]);
            if constexpr (std::is_void_v<decltype(std::invoke(on_token, told(i)))>) {
                std::invoke(on_token, told(i));
            } else if (!std::invoke(on_token, told(i))) {
                made.truncate(static_cast<Index>(i + 1));
                return false;
            }
        }
        return true;
    }

    /// Make one round after `text`: draft, score, verify, and score the tokens if `scored`. Nothing is committed.
    template <bool scored, class Source>
    Round round(const detail::Unwrapped<Lengths>& length, std::span<const Token> text, const Limits& limits,
                Index budget, const detail::StopPredicate& until, const Source& rng) {
        const Index room = limits.max_length - static_cast<Index>(text.size());
        const RoundLimits allowed{.max_tokens = std::min(budget, room),
                                  .stop_tokens = limits.stop_tokens,
                                  .until = until,
                                  .check = options_.check};
        detail::require(allowed.max_tokens >= 1, "Sampler", "the room that limits leave", allowed.max_tokens,
                        "at least 1 token");
        const Index lookahead = length.next(std::min(options_.lookahead, room - 1));
        draft_tree_.open(budget_bounds_draft ? std::min(lookahead, budget) : lookahead, limits.stop_tokens,
                         scorer_.vocab(), until);
        if constexpr (usable) {
            drafter_.propose(text, known_, rng, draft_tree_);
            if (draft_tree_.fault()) return {.proposed = draft_tree_.size(), .fault = draft_tree_.fault()};
            constexpr bool once = detail::reads_once<Rule> && !scored;
            return scorer_.template score<once>(text, known_, draft_tree_, [&](auto& rows) {
                memory_.endings.take(draft_tree_.endings());
                const Round made = detail::judge_draft(draft_tree_, rows, rule_, rng, allowed, memory_);
                if constexpr (scored)
                    if (made) detail::score_round(made, rows, scores_, limits.top_logprobs);
                return made;
            });
        } else {
            return {};
        }
    }

    detail::Proposer<Drafts> drafter_;
    detail::Scorer<Target, detail::may_branch<Drafts>> scorer_;
    Options options_;
    Rule rule_;
    Lengths given_length_;
    Tally tally_;
    detail::OneCall call_;

    // Reused from round to round.
    DraftTree<detail::DistributionOf<Drafts, detail::shares_noise<Rule>>> draft_tree_;
    detail::RoundMemory memory_;
    Scores scores_;
    Index known_ = 0;  ///< leading tokens of the text that drafter and target were shown before
};

}}  // namespace specsample

// Acceptance and tokens per round of rules that judge the same drafts on the same rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <specsample/lossy.hpp>
#include <specsample/metrics.hpp>
#include <specsample/specsample.hpp>
#include <specsample/theory.hpp>

#include "llama_cpp/drafter.hpp"
#include "llama_cpp/tables/pair.hpp"
#include "llama_cpp/tables/texts.hpp"

/// The amount of text for a table.
struct Amount {
    std::size_t prompts;       ///< per kind of text
    std::uint64_t seeds;       ///< texts per prompt
    specsample::Index tokens;  ///< per text
};

/// The results of the rounds that a rule judged.
struct Judged {
    std::string_view rule;
    specsample::Tally tally{};
    specsample::metrics::Moments tokens{};  ///< per round

    void record(const specsample::RoundCounts& counts) {
        tally.record(counts);
        tokens.add(static_cast<double>(counts.tokens));
    }
    void print(std::string_view drafter) const {
        const specsample::metrics::Estimate acceptance = tally.acceptance();
        std::printf("  %-30s %-9s %7d   %.3f  [%.3f, %.3f]   %.2f +- %.2f\n", std::string(drafter).c_str(),
                    std::string(rule).c_str(), static_cast<int>(tally.rounds), acceptance.value, acceptance.low,
                    acceptance.high, tokens.mean, specsample::metrics::z95 * tokens.standard_error());
        std::fflush(stdout);
    }
};

/// Writes texts of one kind with one drafter, and has every draft judged by all rules. The rules take turns in
/// continuing the text, so that no rule chooses the places where it is measured.
/// @tparam Distribution   SharedNoise for drafts that are drawn with the target's noise
template <class Distribution, class... Rules>
class Panel {
    using Index = specsample::Index;
    using Token = specsample::Token;
    static constexpr std::size_t count = sizeof...(Rules);

  public:
    Panel(const Pair& pair, double temperature, const std::array<std::string_view, count>& names, const Rules&... rules)
        : pair_(&pair), target_(pair.target(temperature)), rules_(rules...) {
        for (std::size_t i = 0; i < count; ++i) judged_[i].rule = names[i];
    }

    template <class MakeDrafter>
    void write(const Kind& kind, const Amount& amount, const MakeDrafter& drafter) {
        std::uint64_t request = 0;
        for (std::size_t i = 0; i < amount.prompts; ++i)
            for (std::uint64_t seed = 0; seed < amount.seeds; ++seed)
                write_one(pair_->tokens_of(kind.prompts[i]), drafter(), request++, amount.tokens);
    }

    void print(std::string_view drafter) const {
        for (const Judged& judged : judged_) judged.print(drafter);
    }

  private:
    void write_one(std::vector<Token> text, TextDrafter drafter, std::uint64_t request, Index tokens) {
        for (const Index end = std::ssize(text) + tokens; std::ssize(text) < end;) {
            const specsample::Round& round = judge(text, drafter, request);
            text.insert(text.end(), round.tokens.begin(), round.tokens.end());
            if (round.end == specsample::RoundEnd::stop_token) return;
        }
    }

    /// @returns   the round of the rule whose turn it is
    const specsample::Round& judge(const std::vector<Token>& text, TextDrafter& drafter, std::uint64_t request) {
        const specsample::RoundRng rng(1, request, std::ssize(text));
        draft_tree_.open(lookahead, pair_->stop_tokens(), pair_->vocab_size());
        drafter.propose(text, rng, draft_tree_);
        std::vector<Token> path = text;
        path.insert(path.end(), draft_tree_.tokens().begin(), draft_tree_.tokens().end());
        const auto rows = target_(path, draft_tree_.size() + 1);
        std::size_t place = 0;
        const auto judge_by = [&](const auto& rule) {
            rounds_[place] = specsample::verify(draft_tree_.view(), draft_tree_.distributions(), rows, rule, rng,
                                                {.stop_tokens = pair_->stop_tokens()}, memory_[place]);
            if (!rounds_[place]) throw std::runtime_error("a model has written a row that is no distribution");
            judged_[place].record(rounds_[place].counts());
            ++place;
        };
        std::apply([&](const auto&... rule) { (judge_by(rule), ...); }, rules_);
        return rounds_[turn_++ % count];
    }

    static constexpr Index lookahead = 4;

    const Pair* pair_;
    TextModel target_;
    std::tuple<Rules...> rules_;
    specsample::DraftTree<Distribution> draft_tree_;
    std::array<specsample::Workspace, count> memory_;
    std::array<specsample::Round, count> rounds_;
    std::array<Judged, count> judged_;
    std::size_t turn_ = 0;
};

/// Prints a table of every drafter and rule at a temperature.
inline void print_acceptance(const Pair& pair, double temperature, const Amount& amount) {
    using namespace specsample;
    using namespace specsample::lossy;
    using namespace specsample::theory;
    TextModel drawn = pair.draft(temperature), likeliest = pair.draft(0);
    SamplerChain chain = pair.chain(temperature, 1);
    const EqualityRule equality{&chain};
    const auto drafts_of = [](TextModel& model) { return [&model] { return by_model(model); }; };
    const auto table = [&](const Kind& kind, std::string_view drafter, auto panel, const auto& make_drafter) {
        panel.write(kind, amount, make_drafter);
        panel.print(drafter);
    };
    using Distribution = TextDrafter::Distribution;
    for (const Kind& kind : kinds) {
        std::printf("\n%s, temperature %.1f\n  %-30s %-9s %7s   %-22s   %s\n", std::string(kind.name).c_str(),
                    temperature, "drafts", "rule", "rounds", "acceptance", "tokens per round");
        table(kind, "model",
              Panel<Distribution, TokenVerification, BlockVerification, EqualityRule>(
                  pair, temperature, {"token", "block", "equality"}, {}, {}, equality),
              drafts_of(drawn));
        table(kind, "model, with the target's noise",
              Panel<SharedNoise, GumbelMatch>(pair, temperature, {"gumbel"}, {}), drafts_of(drawn));
        table(kind, "model, its likeliest tokens",
              Panel<Distribution, TokenVerification, EqualityRule>(pair, temperature, {"token", "equality"}, {},
                                                                   equality),
              drafts_of(likeliest));
        table(kind, "lookup",
              Panel<Distribution, TokenVerification, GumbelMatch, EqualityRule>(
                  pair, temperature, {"token", "gumbel", "equality"}, {}, {}, equality),
              by_lookup);
    }
}

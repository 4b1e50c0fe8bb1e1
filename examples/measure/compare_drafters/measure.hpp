// Measures one drafter on some prompts: what it wrote, what that took, and how much it repeated itself.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/drafters/choosing.hpp>
#include <specsample/drafters/recycling.hpp>
#include <specsample/specsample.hpp>

#include "compare_drafters/any_target.hpp"
#include "generate/any_drafter.hpp"
#include "generate/lookahead.hpp"
#include "generate/rules.hpp"
#include "generate/stopwatch.hpp"

using TokenTexts = std::vector<std::vector<specsample::Token>>;

struct Measured {
    double tokens_per_round = 0;
    double nodes_per_round = 0;  ///< drafted tokens
    double seconds_per_token = 0;
    double distinct = 0;  ///< distinct share of the texts' 4-grams: texts that repeat themselves are easy
    double tokens = 0;    ///< that were written
};

inline double distinct_share(const TokenTexts& texts, std::size_t length = 4) {
    double all = 0, different = 0;
    for (const auto& text : texts) {
        std::set<std::vector<specsample::Token>> seen;
        for (std::size_t i = 0; i + length <= text.size(); ++i, ++all)
            seen.emplace(text.begin() + static_cast<std::ptrdiff_t>(i),
                         text.begin() + static_cast<std::ptrdiff_t>(i + length));
        different += static_cast<double>(seen.size());
    }
    return all > 0 ? different / all : 1;
}

/// One line of the table: a drafter, and the rule that judges its drafts.
struct Line {
    std::string name;
    AnyDrafter drafter;
    RuleKind rule = RuleKind::token;
    specsample::Index lookahead = 4;
    Lookahead length{};
    std::shared_ptr<specsample::recycling::Table> table{};       ///< that learns the target's rows, where one does
    std::shared_ptr<specsample::choosing::Overlaps> overlaps{};  ///< of drafters that are chosen among
};

/// Continue every prompt, each as a request of its own.
template <class Rule>
Measured measure_with(Rule rule, Line line, const AnyTarget& target, const TokenTexts& prompts,
                      const specsample::Limits& limits) {
    std::optional<specsample::recycling::Recorded<AnyTarget>> recorded;
    if (line.table) recorded.emplace(target, *line.table);
    std::optional<specsample::choosing::Watched<AnyTarget>> watched;
    if (line.overlaps) watched.emplace(target, *line.overlaps);
    specsample::Sampler sampler(std::move(line.drafter),
                                recorded  ? AnyTarget(*recorded)
                                : watched ? AnyTarget(*watched)
                                          : target,
                                {.lookahead = line.lookahead, .seed = 1}, rule, line.length);
    TokenTexts texts;
    double seconds = 0, written = 0;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        specsample::Limits here = limits;
        here.request = i;
        const Stopwatch watch;
        texts.push_back(sampler.generate(prompts[i], here).tokens);
        seconds += watch.seconds();
        written += static_cast<double>(texts.back().size());
    }
    const specsample::Tally& tally = sampler.tally();
    return {.tokens_per_round = tally.tokens_per_round(),
            .nodes_per_round = static_cast<double>(tally.proposed) / static_cast<double>(tally.rounds),
            .seconds_per_token = seconds / written,
            .distinct = distinct_share(texts),
            .tokens = written};
}

inline Measured measure_line(Line line, const AnyTarget& target, const TokenTexts& prompts,
                             const specsample::Limits& limits) {
    return with_rule(line.rule,
                     [&](auto rule) { return measure_with(rule, std::move(line), target, prompts, limits); });
}

/// @param plain   seconds per token of plain decoding; 0 where times are not comparable
inline void print_line(const std::string& drafter, std::string_view rule, const Measured& measured, double plain) {
    std::printf("%-34s %-10s %12.2f %8.2f", drafter.c_str(), std::string(rule).c_str(), measured.tokens_per_round,
                measured.nodes_per_round);
    if (plain > 0) {
        std::printf(" %10.2f", measured.seconds_per_token / plain);
    } else {
        std::printf(" %10s", "-");
    }
    std::printf(" %9.0f%%\n", 100 * measured.distinct);
    std::fflush(stdout);
}

inline void print_head(const std::string& title) {
    std::printf("\n%s\n\n%-34s %-10s %12s %8s %10s %10s\n", title.c_str(), "", "rule", "tokens/round", "drafted",
                "x plain", "4-grams");
}

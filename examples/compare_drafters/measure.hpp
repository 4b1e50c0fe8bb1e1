// One drafter on some prompts: what it wrote, what that took, and whether it went round in circles.
#pragma once

#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

#include "generate/stopwatch.hpp"

using TokenTexts = std::vector<std::vector<specsample::Token>>;

struct Measured {
    double tokens_per_round = 0;
    double nodes_per_round = 0;  ///< drafted tokens
    double seconds_per_token = 0;
    double distinct = 0;  ///< share of the 4-grams of the texts that differ: texts that repeat themselves are easy
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

/// Write `tokens` tokens after every prompt, each as a request of its own.
template <class Sampler>
Measured measure_drafter(Sampler sampler, const TokenTexts& prompts, const specsample::Limits& limits) {
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
            .distinct = distinct_share(texts)};
}

/// @param plain   seconds per token of plain decoding; 0 where time says nothing
inline void print_line(const std::string& drafter, const char* rule, const Measured& measured, double plain) {
    std::printf("%-34s %-10s %12.2f %8.2f", drafter.c_str(), rule, measured.tokens_per_round, measured.nodes_per_round);
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

// The closing table, and the same figures as JSON.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <specsample/metrics.hpp>
#include <specsample/specsample.hpp>
#include <specsample/theory.hpp>

#include "llama_cpp/lookahead.hpp"
#include "llama_cpp/run.hpp"

/// The results of --compare: the text decoded plainly, the text by llama.cpp's own rule, and the costs of passes.
struct TextComparison {
    TextRun plain;
    TextRun equality;
    PassCosts costs;
    std::optional<double> margin{};  ///< of the two largest logits where greedy texts differ
};

inline std::string_view name(Ended ended) {
    switch (ended) {
        case Ended::not_yet:
            return "nothing";
        case Ended::stop:
            return "end of text";
        case Ended::budget:
            return "budget";
        case Ended::context:
            return "full context";
        case Ended::interrupted:
            return "interrupt";
        case Ended::failed:
            return "error";
    }
    return "";
}

/// "the same text" as another run, or the first difference.
inline std::string difference(const TextRun& run, const TextRun& other) {
    const auto [here, there] = std::ranges::mismatch(run.tokens, other.tokens);
    if (here == run.tokens.end() && there == other.tokens.end()) return "the same text";
    return "another text from token " + std::to_string(here - run.tokens.begin() + 1);
}

/// One line that explains the measured speed.
inline void explain(const TextRun& run, const PassCosts& costs) {
    const auto most = static_cast<specsample::Index>(costs.verify_curve.size()) - 1;
    if (run.tally.evaluated == 0 || !run.is_steady || most < run.lookahead) return;
    const double acceptance = run.tally.acceptance().value;
    const auto best = specsample::theory::best_lookahead(acceptance, costs.draft, costs.verify_curve, most);
    std::printf(
        "  why             a drafted token costs %.2f of a target pass and a pass over %d positions %.2f; at "
        "acceptance %.2f the best lookahead is %d (x%.2f)\n",
        costs.draft, static_cast<int>(run.lookahead) + 1, costs.verify_curve[static_cast<std::size_t>(run.lookahead)],
        acceptance, static_cast<int>(best),
        specsample::theory::speedup(acceptance, best, costs.draft, costs.verify_curve));
}

inline void print_comparison(const TextRun& run, const TextComparison& comparison) {
    if (run.tokens.empty()) return;
    const auto line = [&](const char* what, const TextRun& each) {
        const double tokens = static_cast<double>(std::max<std::size_t>(each.tokens.size(), 1));
        std::printf("  %-20s %12.2f %13.1f %12.2f %18.1f   %s\n", what, each.tally.tokens_per_pass(),
                    each.tokens_per_second(), each.tokens_per_second() / comparison.plain.tokens_per_second(),
                    1e6 * each.sampler_seconds() / tokens, &each == &run ? "" : difference(run, each).c_str());
    };
    std::printf("\n                       tokens/pass      tokens/s      x plain  sampling, us/token\n");
    line("this run", run);
    line("llama.cpp's rule", comparison.equality);
    line("plain decoding", comparison.plain);
    if (comparison.margin)
        std::printf("  the two largest logits where this run and plain decoding part differ by %.2g\n",
                    *comparison.margin);
    std::printf("\n  cost of n       ");
    for (std::size_t i = 0; i < comparison.costs.verify_curve.size(); ++i)
        std::printf("%zu: %.2f  ", i + 1, comparison.costs.verify_curve[i]);
    std::printf("(positions in a pass: passes over one)\n");
    explain(run, comparison.costs);
}

inline void print_table(const TextRun& run, std::uint64_t seed, const std::optional<TextComparison>& comparison) {
    const specsample::Tally& tally = run.tally;
    const specsample::metrics::Estimate acceptance = tally.acceptance();
    std::printf("\n\n  text            %zu tokens, ended by %s; seed %llu\n", run.tokens.size(), name(run.ended).data(),
                static_cast<unsigned long long>(seed));
    std::printf("  target passes   %d, %.2f tokens each", static_cast<int>(tally.passes), tally.tokens_per_pass());
    if (tally.evaluated > 0 && run.is_steady)
        std::printf(" (theory %.2f)", specsample::theory::expected_tokens(acceptance.value, run.lookahead));
    std::printf("\n  drafted         %d, %d accepted; rounds ended %d recovered, %d bonus, %d cut\n",
                static_cast<int>(tally.proposed), static_cast<int>(tally.accepted),
                static_cast<int>(tally.recovered + tally.matched), static_cast<int>(tally.bonus),
                static_cast<int>(tally.stopped));
    if (tally.evaluated > 0) {
        std::printf("  acceptance      %.2f [%.2f, %.2f]; by position", acceptance.value, acceptance.low,
                    acceptance.high);
        for (specsample::Index i = 0; i < std::ssize(tally.positions); ++i)
            std::printf(" %.2f", tally.acceptance_at(i).value);
        std::printf("\n");
    }
    const double rounds = static_cast<double>(std::max<specsample::Index>(tally.rounds, 1));
    std::printf("  time            draft %.1f ms, target %.1f ms, sampler %.2f ms (%.1f us a round)\n",
                1e3 * run.draft_seconds, 1e3 * run.target_seconds, 1e3 * run.sampler_seconds(),
                1e6 * run.sampler_seconds() / rounds);
    std::printf("  speed           %.1f tokens a second\n", run.tokens_per_second());
    if (comparison) print_comparison(run, *comparison);
}

/// The size in bytes of the first character of a text; 0 where it is not UTF-8.
inline std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(0), second = byte(1);
    const std::size_t length = first < 0x80                   ? 1
                               : first < 0xC2 || first > 0xF4 ? 0
                               : first < 0xE0                 ? 2
                               : first < 0xF0                 ? 3
                                                              : 4;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    // Overlong forms, surrogates and values beyond Unicode.
    const bool is_none = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                         (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return is_none ? 0 : length;
}

/// A JSON string: control characters escaped, bytes that are not UTF-8 replaced.
inline std::string quoted(std::string_view text) {
    std::string result = "\"";
    while (!text.empty()) {
        const std::size_t length = character(text);
        const auto first = static_cast<unsigned char>(text[0]);
        if (length == 0) {
            result += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            result.append({'\\', text[0]});
        } else if (first < 0x20 || first == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", unsigned{first});
            result += escape;
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result + '"';
}

inline void print_json(const char* what, const TextRun& run) {
    std::printf(
        "%s{\"tokens\": %zu, \"ended\": \"%s\", \"rounds\": %d, \"tokens_per_round\": %.6g, "
        "\"tokens_per_second\": %.6g,\n",
        what, run.tokens.size(), name(run.ended).data(), static_cast<int>(run.tally.rounds),
        run.tally.tokens_per_round(), run.tokens_per_second());
    std::printf("  \"proposed\": %d, \"evaluated\": %d, \"accepted\": %d, \"acceptance\": %.6g,\n",
                static_cast<int>(run.tally.proposed), static_cast<int>(run.tally.evaluated),
                static_cast<int>(run.tally.accepted), run.tally.acceptance().value);
    std::printf("  \"seconds\": {\"draft\": %.6g, \"target\": %.6g, \"sampler\": %.6g}}", run.draft_seconds,
                run.target_seconds, run.sampler_seconds());
}

inline void print_json(const TextRun& run, std::string_view prompt, std::string_view text, std::uint64_t seed,
                       const std::optional<TextComparison>& comparison) {
    std::printf("{\"prompt\": %s,\n \"text\": %s,\n \"seed\": %llu, \"lookahead\": %d,\n", quoted(prompt).c_str(),
                quoted(text).c_str(), static_cast<unsigned long long>(seed), static_cast<int>(run.lookahead));
    print_json(" \"run\": ", run);
    if (comparison) {
        print_json(",\n \"llama_cpp_rule\": ", comparison->equality);
        print_json(",\n \"plain\": ", comparison->plain);
        std::printf(",\n \"costs\": {\"target_pass_seconds\": %.6g, \"draft\": %.6g, \"verify\": [",
                    comparison->costs.target_pass, comparison->costs.draft);
        for (std::size_t i = 0; i < comparison->costs.verify_curve.size(); ++i)
            std::printf("%s%.6g", i == 0 ? "" : ", ", comparison->costs.verify_curve[i]);
        std::printf("]}");
    }
    std::printf("}\n");
}

// The closing table, and the same figures as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <specsample/metrics.hpp>
#include <specsample/theory.hpp>

#include "generate/costs.hpp"
#include "generate/run.hpp"

/// The results of --compare: the same text decoded plainly, and the costs of passes.
struct Comparison {
    Run plain;
    Costs costs;

    double ratio(const Run& run) const { return run.tokens_per_second() / plain.tokens_per_second(); }
};

inline std::string_view name(specsample::FinishReason finish) {
    switch (finish) {
        case specsample::FinishReason::stop:
            return "stop";
        case specsample::FinishReason::until:
            return "until";
        case specsample::FinishReason::callback:
            return "callback";
        case specsample::FinishReason::budget:
            return "budget";
        case specsample::FinishReason::length:
            return "length";
    }
    return "";
}

/// The best lookahead for the measured costs by the theory, and its speed-up.
struct Advice {
    specsample::Index lookahead = 0;
    double speedup = 1;
};

inline Advice advise(double acceptance, const Costs& costs) {
    const auto most = static_cast<specsample::Index>(costs.verify_curve.size()) - 1;
    const auto best = specsample::theory::best_lookahead(acceptance, costs.draft, costs.verify_curve, most);
    return {best, specsample::theory::speedup(acceptance, best, costs.draft, costs.verify_curve)};
}

/// One line that explains a measured ratio.
inline void explain(const Run& run, const Comparison& comparison) {
    const Costs& costs = comparison.costs;
    const double acceptance = run.tally.acceptance().value;
    const auto positions = static_cast<std::size_t>(run.lookahead);
    if (run.tally.evaluated == 0 || !run.is_steady || costs.verify_curve.size() <= positions) return;
    const Advice advice = advise(acceptance, costs);
    std::printf(
        "  why             a draft pass costs %.2f of a target pass and scoring %zu positions %.2f of one; at "
        "acceptance %.2f the best lookahead is %d (x%.2f)%s\n",
        costs.draft, positions + 1, costs.verify_curve[positions], acceptance, static_cast<int>(advice.lookahead),
        advice.speedup, advice.lookahead == 0 ? ": none pays" : "");
    if (comparison.ratio(run) >= 1) return;
    std::printf(
        "  what would pay  a target whose weights stream from memory: with this draft at 0.05 of a pass and "
        "%zu positions at 1.2 of one, x%.2f\n",
        positions + 1, specsample::theory::speedup(acceptance, run.lookahead, 0.05, [](specsample::Index n) {
            return n == 1 ? 1.0 : 1.2;
        }));
}

/// The acceptance at a position as text, or `none` where no round decided it.
inline std::string acceptance_text(const specsample::Tally& tally, specsample::Index position, const char* format,
                                   const char* none) {
    if (tally.positions[static_cast<std::size_t>(position)].evaluated == 0) return none;
    char text[32];
    std::snprintf(text, sizeof text, format, tally.acceptance_at(position).value);
    return text;
}

inline void print_table(const Run& run, const std::optional<Comparison>& comparison) {
    const specsample::Tally& tally = run.tally;
    const specsample::metrics::Estimate acceptance = tally.acceptance();
    const double rounds = static_cast<double>(std::max<specsample::Index>(tally.rounds, 1));
    std::printf("\n\n  text            %zu tokens, ended by %s\n", run.tokens.size(), name(run.finish).data());
    std::printf("  target passes   %d, %.2f tokens each", static_cast<int>(tally.passes), tally.tokens_per_pass());
    if (tally.evaluated > 0 && run.is_steady)
        std::printf(" (theory %.2f)", specsample::theory::expected_tokens(acceptance.value, run.lookahead));
    std::printf("\n  drafted         %d, %d accepted; rounds ended %d recovered, %d bonus, %d cut\n",
                static_cast<int>(tally.proposed), static_cast<int>(tally.accepted), static_cast<int>(tally.recovered),
                static_cast<int>(tally.bonus), static_cast<int>(tally.stopped));
    if (tally.evaluated > 0) {
        std::printf("  acceptance      %.2f [%.2f, %.2f]; by position", acceptance.value, acceptance.low,
                    acceptance.high);
        for (specsample::Index i = 0; i < std::ssize(tally.positions); ++i)
            std::printf(" %s", acceptance_text(tally, i, "%.2f", "-").c_str());
        std::printf("\n");
    }
    std::printf("  time            draft %.1f ms, target %.1f ms, sampler %.2f ms (%.1f us a round)\n",
                1e3 * run.draft_seconds, 1e3 * run.target_seconds, 1e3 * run.sampler_seconds(),
                1e6 * run.sampler_seconds() / rounds);
    std::printf("  speed           %.0f tokens a second\n", run.tokens_per_second());
    std::printf("  cache           %d pages of the target's, %d of the draft's\n", static_cast<int>(run.target_pages),
                static_cast<int>(run.draft_pages));
    if (!comparison) return;
    std::printf("  plain decoding  %.0f tokens a second: speculation is %.2f times as fast; texts %s\n",
                comparison->plain.tokens_per_second(), comparison->ratio(run),
                comparison->plain.tokens == run.tokens ? "are identical" : "differ, their distribution is the same");
    std::printf("  cost of n       ");
    for (std::size_t i = 0; i < comparison->costs.verify_curve.size(); ++i)
        std::printf("%zu: %.2f  ", i + 1, comparison->costs.verify_curve[i]);
    std::printf("(positions in a pass: passes over one)\n");
    explain(run, *comparison);
}

/// A JSON string: control characters escaped, bytes that are not UTF-8 replaced.
inline std::string quoted(std::string_view text) {
    std::string result = "\"";
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i);
        const std::size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        bool valid = first < 0x80 || (first >= 0xC2 && first < 0xF5);
        for (std::size_t k = 1; k < length; ++k) valid &= (byte(i + k) & 0xC0) == 0x80;
        // Overlong forms, surrogates and values beyond Unicode.
        valid &= !(first == 0xE0 && byte(i + 1) < 0xA0) && !(first == 0xED && byte(i + 1) > 0x9F) &&
                 !(first == 0xF0 && byte(i + 1) < 0x90) && !(first == 0xF4 && byte(i + 1) > 0x8F);
        if (!valid) {
            result += "\\ufffd";
            ++i;
            continue;
        }
        if (first == '"' || first == '\\') {
            result.append({'\\', static_cast<char>(first)});
        } else if (first < 0x20 || first == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", first);
            result += escape;
        } else {
            result += text.substr(i, length);
        }
        i += length;
    }
    return result + '"';
}

inline void print_json(const Run& run, std::string_view prompt, std::string_view text,
                       const std::optional<Comparison>& comparison) {
    const specsample::Tally& tally = run.tally;
    std::printf("{\"prompt\": %s,\n \"text\": %s,\n", quoted(prompt).c_str(), quoted(text).c_str());
    std::printf(" \"finish\": \"%s\", \"tokens\": %zu, \"rounds\": %d, \"tokens_per_round\": %.6g,\n",
                name(run.finish).data(), run.tokens.size(), static_cast<int>(tally.rounds), tally.tokens_per_round());
    std::printf(" \"target_passes\": %d, \"tokens_per_pass\": %.6g,\n", static_cast<int>(tally.passes),
                tally.tokens_per_pass());
    std::printf(
        " \"lookahead\": %d, \"proposed\": %d, \"evaluated\": %d, \"accepted\": %d, \"recovered\": %d, "
        "\"bonus\": %d, \"stopped\": %d,\n",
        static_cast<int>(run.lookahead), static_cast<int>(tally.proposed), static_cast<int>(tally.evaluated),
        static_cast<int>(tally.accepted), static_cast<int>(tally.recovered), static_cast<int>(tally.bonus),
        static_cast<int>(tally.stopped));
    if (tally.evaluated == 0) {
        std::printf(" \"acceptance\": null");
    } else {
        std::printf(" \"acceptance\": %.6g", tally.acceptance().value);
    }
    std::printf(", \"acceptance_by_position\": [");
    for (specsample::Index i = 0; i < std::ssize(tally.positions); ++i)
        std::printf("%s%s", i == 0 ? "" : ", ", acceptance_text(tally, i, "%.6g", "null").c_str());
    std::printf("],\n");
    if (run.is_steady && tally.evaluated > 0)
        std::printf(" \"expected_tokens_per_round\": %.6g,\n",
                    specsample::theory::expected_tokens(tally.acceptance().value, run.lookahead));
    std::printf(" \"pages\": {\"target\": %d, \"draft\": %d},\n", static_cast<int>(run.target_pages),
                static_cast<int>(run.draft_pages));
    std::printf(" \"seconds\": {\"draft\": %.6g, \"target\": %.6g, \"sampler\": %.6g}, \"tokens_per_second\": %.6g",
                run.draft_seconds, run.target_seconds, run.sampler_seconds(), run.tokens_per_second());
    if (comparison) {
        const Costs& costs = comparison->costs;
        std::printf(",\n \"plain\": {\"tokens_per_second\": %.6g, \"ratio\": %.6g, \"same_tokens\": %s},\n",
                    comparison->plain.tokens_per_second(), comparison->ratio(run),
                    comparison->plain.tokens == run.tokens ? "true" : "false");
        std::printf(" \"costs\": {\"target_pass_seconds\": %.6g, \"draft\": %.6g, \"verify\": [", costs.target_pass,
                    costs.draft);
        for (std::size_t i = 0; i < costs.verify_curve.size(); ++i)
            std::printf("%s%.6g", i == 0 ? "" : ", ", costs.verify_curve[i]);
        const Advice advice = advise(tally.acceptance().value, costs);
        std::printf("]}, \"best_lookahead\": %d, \"predicted_ratio\": %.6g", static_cast<int>(advice.lookahead),
                    advice.speedup);
    }
    std::printf("}\n");
}

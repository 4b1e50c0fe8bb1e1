// The measurements of a rule, as a line of a table and as a point of a plot.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

struct Result {
    std::string name;
    double tokens_per_round = 0;
    double error = 0;           ///< standard error of tokens_per_round
    double of_bound = 0;        ///< tokens_per_round over the one-round bound of chains; 0 where there is none
    double first = 0;           ///< share of the rounds that accept a first token
    double of_first_bound = 0;  ///< `first` over the transport bound of as many independent drafts
    double microseconds = 0;    ///< per round, for sampler and rule without the models
    double variation = 0;       ///< total variation from the target at one position
};

inline std::string percent(double share) {
    char text[16] = "-";
    if (share > 0) std::snprintf(text, sizeof text, "%.0f%%", 100 * share);
    return text;
}

inline void print_results(const std::string& title, const std::vector<Result>& results) {
    std::printf("\n%s\n\n%-34s %14s %9s %7s %9s %9s\n", title.c_str(), "", "tokens/round", "of bound", "first",
                "of bound", "us/round");
    for (const Result& result : results)
        std::printf("%-34s %6.3f +- %.3f %9s %7s %9s %9.1f\n", result.name.c_str(), result.tokens_per_round,
                    result.error, percent(result.of_bound).c_str(), percent(result.first).c_str(),
                    percent(result.of_first_bound).c_str(), result.microseconds);
}

/// Plots results: total variation to the right, tokens per round upwards; a letter each, named below.
inline void plot_results(const std::vector<Result>& results) {
    constexpr int width = 64, height = 18;
    double most = 0, low = results.front().tokens_per_round, high = low;
    for (const Result& result : results) {
        most = std::max(most, result.variation);
        low = std::min(low, result.tokens_per_round);
        high = std::max(high, result.tokens_per_round);
    }
    std::vector<std::string> canvas(height, std::string(width, ' '));
    const auto cell = [](double share, int cells) { return static_cast<int>(share * (cells - 1) + .5); };
    std::string legend;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto x = static_cast<std::size_t>(cell(results[i].variation / most, width));
        const auto y = static_cast<std::size_t>(cell((high - results[i].tokens_per_round) / (high - low), height));
        const char letter = static_cast<char>(i < 26 ? 'a' + i : 'A' + (i - 26));
        canvas[y][x] = letter;
        char line[96];
        std::snprintf(line, sizeof line, "  %c %-26s %.3f tokens per round, TV %.4f\n", letter, results[i].name.c_str(),
                      results[i].tokens_per_round, results[i].variation);
        legend += line;
    }
    std::puts("\nSpeed against truth: tokens per round over total variation per position\n");
    for (int y = 0; y < height; ++y) {
        const bool labelled = y == 0 || y == height - 1;
        if (labelled) std::printf("%6.2f |", y == 0 ? high : low);
        if (!labelled) std::printf("%6s |", "");
        std::puts(canvas[static_cast<std::size_t>(y)].c_str());
    }
    std::printf("%6s +%s\n%6s  0%*s%.3f\n%s", "", std::string(width, '-').c_str(), "", width - 6, "", most,
                legend.c_str());
}

/// Writes the same plot to an SVG file.
/// @returns false if the file cannot be written
inline bool draw_results(const std::vector<Result>& results, const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    double most = 0, low = 1e9, high = 0;
    for (const Result& result : results) {
        most = std::max(most, result.variation);
        low = std::min(low, result.tokens_per_round);
        high = std::max(high, result.tokens_per_round);
    }
    std::fprintf(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"480\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#fbfbf8\" stroke=\"#ddd\"/>\n"
        "<path d=\"M60 30V430H840\" fill=\"none\" stroke=\"#888\"/>\n"
        "<text x=\"60\" y=\"20\">tokens per round</text>"
        "<text x=\"840\" y=\"465\" text-anchor=\"end\">total variation from the target per position</text>\n"
        "<text x=\"54\" y=\"44\" text-anchor=\"end\">%.2f</text><text x=\"54\" y=\"424\" text-anchor=\"end\">%.2f"
        "</text><text x=\"820\" y=\"447\" text-anchor=\"end\">%.3f</text><text x=\"60\" y=\"447\">0</text>\n",
        high, low, most);
    std::vector<std::pair<double, double>> labels;  // the positions of the names, chosen not to overlap
    for (const Result& result : results) {
        const double x = 66 + 640 * result.variation / most;
        const double y = 420 - 380 * (result.tokens_per_round - low) / (high - low);
        std::pair<double, double> label{x + 7, y + 4};
        const auto covers = [&](const auto& other) {
            return std::abs(other.first - label.first) < 125 && std::abs(other.second - label.second) < 12;
        };
        while (std::ranges::any_of(labels, covers)) label.second += 12;
        labels.push_back(label);
        std::fprintf(file,
                     "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x,
                     y, result.variation > 0 ? "#d64545" : "#2e9e4f", label.first, label.second, result.name.c_str());
    }
    std::fputs("</svg>\n", file);
    return std::fclose(file) == 0;
}

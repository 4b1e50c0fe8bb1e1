// A table on the terminal: a line per family, a column per rule.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "compare_rules/families.hpp"
#include "compare_rules/result.hpp"
#include "generate/stopwatch.hpp"

/// A column of a ranking: a name, and a function of a pair.
struct Column {
    std::string name;
    std::function<double(const Pair&)> value;
    int bound = -1;      ///< the column that bounds this one; -1: none
    bool ranked = true;  ///< false for bounds and probabilities
};

/// Prints means over `draws` pairs of every family, with a star at the best ranked column of a line. The last lines
/// have each rule's mean share of its bound, and its time per round for drafting, scoring and verifying.
inline void print_ranking(const std::string& title, const std::vector<Family>& families,
                          const std::vector<Column>& columns, int draws, int rounds) {
    std::printf("\n%s\n\n%-24s", title.c_str(), "");
    for (const Column& column : columns) std::printf(" %10s", column.name.c_str());
    std::puts("");
    std::vector<double> shares(columns.size()), seconds(columns.size());
    for (const Family& family : families) {
        std::vector<double> means(columns.size());
        for (int i = 0; i < draws; ++i) {
            Noise noise(static_cast<std::uint64_t>(i + 1));
            const Pair pair = family.draw(noise);
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const Stopwatch watch;
                means[c] += columns[c].value(pair) / draws;
                seconds[c] += watch.seconds();
            }
        }
        double best = 0;
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (columns[c].ranked) best = std::max(best, means[c]);
        std::printf("%-24s", family.name.c_str());
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::printf(" %9.3f%c", means[c], columns[c].ranked && means[c] == best ? '*' : ' ');
            if (columns[c].bound >= 0)
                shares[c] +=
                    means[c] / means[static_cast<std::size_t>(columns[c].bound)] / static_cast<double>(families.size());
        }
        std::puts("");
        std::fflush(stdout);
    }
    std::printf("%-24s", "share of its bound");
    for (const double share : shares) std::printf(" %10s", percent(share).c_str());
    std::printf("\n%-24s", "microseconds per round");
    const double count = static_cast<double>(families.size()) * draws * rounds;
    for (std::size_t c = 0; c < columns.size(); ++c)
        columns[c].ranked ? std::printf(" %10.1f", seconds[c] / count * 1e6) : std::printf(" %10s", "-");
    std::puts("");
}

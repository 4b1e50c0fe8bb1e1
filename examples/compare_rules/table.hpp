// A table on the terminal: rows by name, columns filled one after the other.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "compare_rules/families.hpp"

/// A column of a ranking: what it says of one pair.
struct Column {
    std::string name;
    std::function<double(const Pair&)> value;
    bool ranked = true;  ///< bounds and probabilities are not
};

/// Means over `draws` pairs of every family. The best ranked column of a row has a star.
inline void print_ranking(const std::string& title, const std::vector<Family>& families,
                          const std::vector<Column>& columns, int draws) {
    std::printf("\n%s\n\n%-24s", title.c_str(), "");
    for (const Column& column : columns) std::printf(" %10s", column.name.c_str());
    std::puts("");
    for (const Family& family : families) {
        std::vector<double> means(columns.size());
        for (int i = 0; i < draws; ++i) {
            Noise noise(static_cast<std::uint64_t>(i + 1));
            const Pair pair = family.draw(noise);
            for (std::size_t c = 0; c < columns.size(); ++c) means[c] += columns[c].value(pair) / draws;
        }
        double best = 0;
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (columns[c].ranked) best = std::max(best, means[c]);
        std::printf("%-24s", family.name.c_str());
        for (std::size_t c = 0; c < columns.size(); ++c)
            std::printf(" %9.3f%c", means[c], columns[c].ranked && means[c] == best ? '*' : ' ');
        std::puts("");
        std::fflush(stdout);
    }
}

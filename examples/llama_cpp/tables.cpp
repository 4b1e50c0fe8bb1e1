// Measures drafts on a pair of models, on prose, code and edits: acceptance and tokens per round of specsample's rules
// and of llama.cpp's own, which keeps a drafted token if the target's sampler picks the same one; then, separately, the
// time per token beside plain decoding.
//
//     tables MODEL DRAFT [--quick]
//
// Intervals are for 95 %, and assume independent rounds.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "llama_cpp/tables/acceptance.hpp"
#include "llama_cpp/tables/pair.hpp"
#include "llama_cpp/tables/texts.hpp"
#include "llama_cpp/tables/times.hpp"

int main(int count, char** values) try {
    std::vector<std::string_view> words(values + 1, values + count);
    const bool quick = std::erase(words, "--quick") > 0;
    if (words.size() != 2) throw std::invalid_argument("usage: tables MODEL DRAFT [--quick]");
    const Pair pair(/*draft*/ words[1], /*target*/ words[0]);
    const Amount judged = quick ? Amount{1, 1, 24} : Amount{4, 1, 72};
    const Amount timed = quick ? Amount{1, 1, 24} : Amount{4, 1, 48};

    std::printf("ACCEPTANCE AND TOKENS PER ROUND, chains of 4\n");
    for (const double temperature : {.8, 1.}) print_acceptance(pair, temperature, judged);

    std::printf("\nTIME PER TOKEN, 2 threads, every way in turn\n");
    Times times(pair, .8);
    times.print_costs();
    for (const Kind& kind : kinds) times.print_table(kind, timed);
    times.print_switches(quick ? 48 : 160);
} catch (const std::exception& error) {
    std::fprintf(stderr, "tables: %s\n", error.what());
    return 2;
}

// Compares all rules: on random toy distributions, on a real pair of models, and the lossy ones by their total
// variation from the target.
//
//     compare_rules                 half a minute
//     compare_rules --thorough      the figures of the README, some minutes
//     compare_rules --svg plot.svg  the last plot as a picture, too
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specsample/lossy.hpp>
#include <specsample/verify.hpp>

#include "compare_rules/real_pair.hpp"
#include "compare_rules/toys.hpp"

namespace {

using namespace specsample;
using namespace specsample::children;
using namespace specsample::lossy;

struct Arguments {
    int draws = 6;          ///< pairs per family
    int large_draws = 2;    ///< pairs per family of 5000 tokens
    int rounds = 400;       ///< rounds per pair
    Index tokens = 100;     ///< tokens per text
    std::size_t texts = 1;  ///< texts per prompt
    std::string svg{};
};

Arguments parse(std::span<char*> values) {
    Arguments result;
    for (std::size_t i = 1; i < values.size(); ++i) {
        const std::string_view option = values[i];
        if (option == "--thorough") {
            result = {.draws = 20, .large_draws = 6, .rounds = 2000, .tokens = 200, .texts = 6, .svg = result.svg};
        } else if (option == "--quick") {
            result = {.draws = 1, .large_draws = 1, .rounds = 20, .tokens = 8, .svg = result.svg};
        } else if (option == "--svg" && i + 1 < values.size()) {
            result.svg = values[++i];
        } else {
            throw std::invalid_argument("'" + std::string(option) +
                                        "' is unknown, but must be --quick, --thorough or --svg FILE");
        }
    }
    return result;
}

void compare_on_pair(RealPair& pair) {
    const auto draft = [&] { return std::ref(pair.draft()); };
    std::vector<Result> chains, trees;
    chains.push_back(pair.run("SampleMatch", SampleMatch{}, draft()));
    chains.push_back(
        pair.run("SampleMatch, likeliest drafted", SampleMatch{}, TreeDrafter(draft(), {1, 1, 1, 1}, TopChildren{})));
    chains.push_back(pair.run("GumbelMatch", GumbelMatch{}, draft()));
    chains.push_back(pair.run("TokenVerification", TokenVerification{}, draft()));
    chains.push_back(pair.run("BlockVerification", BlockVerification{}, draft()));
    print_results("Two real models, temperature 1, chains of 4", chains);

    const std::vector<Index> shape{2, 2, 1, 1};
    const auto tree = [&](const auto& children) { return TreeDrafter(draft(), shape, children); };
    trees.push_back(pair.run("SampleMatch, likeliest", SampleMatch{}, tree(TopChildren{})));
    trees.push_back(pair.run("SpecInfer, independent", SpecInfer{}, tree(Independent{})));
    trees.push_back(pair.run("KSeq, independent", KSeq{}, tree(Independent{})));
    trees.push_back(pair.run("RecursiveRejection, without repl.", RecursiveRejection{}, tree(WithoutReplacement{})));
    trees.push_back(pair.run("TraversalVerification, w/o repl.", TraversalVerification{}, tree(WithoutReplacement{})));
    trees.push_back(pair.run("GumbelMatch, first of the race", GumbelMatch{}, tree(WithoutReplacement{})));
    trees.push_back(pair.run("RecursiveRejection, greedy", RecursiveRejection{}, tree(GreedyChildren{})));
    trees.push_back(pair.run("TraversalVerification, greedy", TraversalVerification{}, tree(GreedyChildren{})));
    print_results("The same, trees with 2, 2, 1, 1 children: 4 draft steps as well", trees);
}

/// Lossy rules, from the most careful to the most careless.
void compare_lossy(RealPair& pair, const std::string& svg) {
    std::vector<Result> results;
    const auto add = [&](const std::string& name, const auto& rule) {
        results.push_back(pair.run(name, rule, std::ref(pair.draft())));
    };
    const auto number = [](double value) {
        char text[16];
        std::snprintf(text, sizeof text, " %.2g", value);
        return std::string(text);
    };
    add("TokenVerification", TokenVerification{});
    add("BlockVerification", BlockVerification{});
    for (const double l : {.8, .5, .25}) add("lenience" + number(l), Lenience{l});
    for (const double b : {1.5, 2.}) add("uniform bound" + number(b), UniformBound{b});
    for (const double t : {.8, .4}) add("ratio" + number(t), RatioThreshold{t});
    for (const double budget : {.02, .1, .3}) add("mentored" + number(budget), Transformed(Mentored<>{budget}));
    add("mentored 0.1, block", Transformed(Mentored<>{.1}, BlockVerification{}));
    for (const double alpha : {.1, .3}) add("cascade V3" + number(alpha), Transformed(TokenV3{alpha}));
    for (const double threshold : {.05, .15}) add("fuzzy" + number(threshold), Transformed(Fuzzy{threshold}));
    for (const double delta : {.01, .1}) add("cactus" + number(delta), Cactus{delta});
    add("typical", TypicalAcceptance{});
    add("BiLD", BigLittle{.fallback = .2, .rollback = 3});
    plot_results(results);
    if (!svg.empty() && !draw_results(results, svg)) throw std::runtime_error("cannot write " + svg);
}

}  // namespace

int main(int count, char** values) try {
    const Arguments arguments = parse({values, static_cast<std::size_t>(count)});
    rank_chains(arguments.draws, arguments.rounds);
    rank_trees(arguments.draws, arguments.rounds);
    for (const Index drafts : {2, 4}) rank_positions(drafts, arguments.large_draws, arguments.rounds);
    RealPair pair(arguments.tokens, arguments.texts);
    compare_on_pair(pair);
    compare_lossy(pair, arguments.svg);
} catch (const std::exception& error) {
    std::fprintf(stderr, "compare_rules: %s\n", error.what());
    return 1;
}

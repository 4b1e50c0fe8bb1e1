// The rankings on small families: chains, trees, and one position with several drafts.
#pragma once

#include <specsample/theory.hpp>
#include <specsample/verify.hpp>

#include "compare_rules/measure.hpp"
#include "compare_rules/table.hpp"

/// Chains of four drafts: tokens per round.
inline void rank_chains(int draws, int rounds) {
    using namespace specsample;
    using namespace specsample::children;
    using namespace specsample::kernels;
    using namespace specsample::lossy;
    using namespace specsample::theory;
    const Index depth = 4;
    const auto column = [=](const char* name, const auto& rule) {
        return Column{name, [=](const Pair& pair) { return chain_tokens(rule, pair, depth, rounds); }, 6};
    };
    const auto likeliest = [=](const Pair& pair) {
        return many_rounds(SampleMatch{}, Likeliest{&pair.draft}, pair, depth, rounds).tokens_per_round();
    };
    const auto accepted = [](const Pair& pair) { return overlap(pair.draft, pair.target); };
    const auto bound = [=](const Pair& pair) { return chain_bound(pair, depth, rounds); };
    print_ranking("Chains of 4 drafts, 8 tokens: tokens per round", small_families(),
                  {{"accept", accepted, -1, false},
                   column("sample+m", SampleMatch{}),
                   {"greedy+m", likeliest},
                   column("gumbel", GumbelMatch{}),
                   column("token", TokenVerification{}),
                   column("block", BlockVerification{}),
                   {"bound", bound, -1, false}},
                  draws, rounds);
}

/// Two children per node, two levels: tokens per round for two draft steps.
inline void rank_trees(int draws, int rounds) {
    using namespace specsample;
    using namespace specsample::children;
    using namespace specsample::kernels;
    using namespace specsample::lossy;
    using namespace specsample::theory;
    const std::vector<Index> branching{2, 2};
    const auto chain = [=](const char* name, const auto& rule) {
        return Column{name, [=](const Pair& pair) { return chain_tokens(rule, pair, 2, rounds); }};
    };
    const auto tree = [=](const char* name, const auto& rule, const auto& children) {
        return Column{name, [=](const Pair& pair) { return tree_tokens(rule, children, pair, branching, rounds); }};
    };
    print_ranking("Trees of depth 2 with 2 children per node: tokens per round", small_families(),
                  {chain("chain2 tok", TokenVerification{}), chain("chain2 blk", BlockVerification{}),
                   tree("specinfer", SpecInfer{}, Independent{}), tree("k-seq", KSeq{}, Independent{}),
                   tree("recursive", RecursiveRejection{}, WithoutReplacement{}),
                   tree("traversal", TraversalVerification{}, WithoutReplacement{}),
                   tree("gumbel", GumbelMatch{}, WithoutReplacement{}),
                   tree("greedy", RecursiveRejection{}, GreedyChildren{}), tree("named", SampleMatch{}, TopChildren{})},
                  draws, rounds);
}

/// One position, several drafts: the probability that one of them is accepted, beside the transport bound for drafts of
/// that kind. The first tokens of a race are a sample without replacement, so its bound is that of GumbelMatch, too.
inline void rank_positions(specsample::Index count, int draws, int rounds) {
    using namespace specsample;
    using namespace specsample::children;
    using namespace specsample::kernels;
    using namespace specsample::lossy;
    using namespace specsample::theory;
    const auto position = [=](const char* name, const auto& rule, const auto& children, int bound) {
        return Column{name, [=](const Pair& pair) { return tree_tokens(rule, children, pair, {count}, rounds) - 1; },
                      bound};
    };
    const auto accepted = [](const Pair& pair) { return overlap(pair.draft, pair.target); };
    const auto independent = [=](const Pair& pair) { return transport_bound(pair.draft, pair.target, count); };
    const auto without = [=](const Pair& pair) {
        return transport_bound_without_replacement(pair.draft, pair.target, count);
    };
    const auto greedy = [=](const Pair& pair) { return transport_bound_greedy(pair.draft, pair.target, count); };
    print_ranking("One position of 5000 tokens, " + std::to_string(count) + " drafts: acceptance", large_families(),
                  {{"accept(1)", accepted, -1, false},
                   position("named", SampleMatch{}, TopChildren{}, -1),
                   position("specinfer", SpecInfer{}, Independent{}, 4),
                   position("k-seq", KSeq{}, Independent{}, 4),
                   {"bound", independent, -1, false},
                   position("recursive", RecursiveRejection{}, WithoutReplacement{}, 6),
                   {"bound w/o", without, -1, false},
                   position("greedy", RecursiveRejection{}, GreedyChildren{}, 8),
                   {"bound grd", greedy, -1, false},
                   position("gumbel", GumbelMatch{}, WithoutReplacement{}, 6)},
                  draws, rounds);
}

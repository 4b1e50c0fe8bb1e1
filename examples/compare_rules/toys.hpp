// The rankings on small families: chains, trees, and one position with several drafts.
#pragma once

#include "compare_rules/measure.hpp"
#include "compare_rules/table.hpp"

/// Chains of four drafts: tokens per round.
inline void rank_chains(int draws, int rounds) {
    using namespace specsample;
    const Index depth = 4;
    const auto column = [=](const char* name, const auto& rule) {
        return Column{name, [=](const Pair& pair) { return chain_tokens(rule, pair, depth, rounds); }};
    };
    const Column greedy{
        "greedy+m", [=](const Pair& pair) {
            return many_rounds(SampleMatch{}, Likeliest{&pair.draft}, pair, depth, rounds).tokens_per_round();
        }};
    print_ranking("Chains of 4 drafts, 8 tokens: tokens per round (acceptance and bound for comparison)",
                  small_families(),
                  {{"accept", [](const Pair& pair) { return overlap(pair.target, pair.draft); }, false},
                   column("sample+m", SampleMatch{}),
                   greedy,
                   column("gumbel", GumbelMatch{}),
                   column("token", TokenVerification{}),
                   column("block", BlockVerification{}),
                   {"bound", [=](const Pair& pair) { return chain_bound(pair, depth, rounds); }, false}},
                  draws);
}

/// Two children per node, two levels: tokens per round for two draft steps.
inline void rank_trees(int draws, int rounds) {
    using namespace specsample;
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
                  draws);
}

/// One position, several drafts: the probability that one of them is accepted, beside the most that any rule can reach.
inline void rank_positions(specsample::Index count, int draws, int rounds) {
    using namespace specsample;
    const auto position = [=](const char* name, const auto& rule, const auto& children) {
        return Column{name, [=](const Pair& pair) { return tree_tokens(rule, children, pair, {count}, rounds) - 1; }};
    };
    print_ranking(
        "One position of 5000 tokens, " + std::to_string(count) + " drafts: acceptance", large_families(),
        {{"accept(1)", [](const Pair& pair) { return overlap(pair.target, pair.draft); }, false},
         position("named", SampleMatch{}, TopChildren{}),
         position("specinfer", SpecInfer{}, Independent{}),
         position("k-seq", KSeq{}, Independent{}),
         {"bound", [=](const Pair& pair) { return transport_bound(pair.target, pair.draft, count); }, false},
         position("recursive", RecursiveRejection{}, WithoutReplacement{}),
         {"bound w/o r",
          [=](const Pair& pair) { return transport_bound_without_replacement(pair.target, pair.draft, count); }, false},
         position("gumbel", GumbelMatch{}, WithoutReplacement{}),
         position("greedy", RecursiveRejection{}, GreedyChildren{})},
        draws);
}

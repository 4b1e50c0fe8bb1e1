// The proof that a mutant must break: small tests that check distributions.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <specsample/theory.hpp>

#include "exactness/cases.hpp"
#include "exactness/trees.hpp"
#include "support/catch.hpp"

namespace proof {

using namespace cases;
using namespace specsample::theory;
using namespace specsample::children;

/// A refused round breaks the distribution as well: a random number is used twice, or a valid row is called bad.
template <class Check>
void must_hold(const std::string& name, const Check& check) {
    INFO(name);
    REQUIRE(check());
}

/// Every kind of children as one type, so that a rule is compiled once for all of them.
struct AnyChildren {
    enum class Kind { independent, without_replacement, top, greedy } kind = Kind::without_replacement;

    template <class View, class RngOf, class Add>
    void operator()(const View& row, std::span<Token> ids, const RngOf& rng, const Add& add) const {
        switch (kind) {
            case Kind::independent:
                return Independent{}(row, ids, rng, add);
            case Kind::without_replacement:
                return WithoutReplacement{}(row, ids, rng, add);
            case Kind::top:
                return TopChildren{}(row, ids, rng, add);
            case Kind::greedy:  // says which ids were removed, and leaves their sum to the distribution
                return GreedyChildren{}(row, ids, rng, [&](auto token, const auto& distribution) {
                    if constexpr (detail::RowDistribution<std::remove_cvref_t<decltype(distribution)>>) {
                        add(token, Sampled(row, distribution.without()));
                    } else {
                        add(token, distribution);
                    }
                });
        }
    }
};
using Kind = AnyChildren::Kind;
using Draft = TreeDrafter<Remembered, AnyChildren>;

/// The distribution of a round, completed by the target, is the target's, with and without a stop token.
template <class Rule, class Target>
bool is_lossless(const Rule& rule, const Draft& draft, const Target& target, Index depth) {
    for (const std::vector<Token>& stops : {std::vector<Token>{}, {1}}) {
        TextDistribution distribution;
        for_rounds(rule, draft, target, depth,
                   [&](const Round& round, const Enumerator& paths) {
                       distribution[{round.tokens.begin(), round.tokens.end()}] += paths.probability();
                   },
                   {}, {.stop_tokens = stops});
        if (!(total_variation(completed(distribution, target, depth + 1), joint_distribution(target, depth + 1)) <
              1e-12))
            return false;
    }
    return true;
}

/// Every lossless rule, on chains and trees: the exact distribution of a round, and the statistics of many.
template <class Rule>
void prove(const std::string& name, const Rule& rule,
           const std::vector<Kind>& kinds = {Kind::without_replacement, Kind::independent, Kind::greedy, Kind::top}) {
    static_assert(Rule::lossless, "what is proved here is what the rule claims");
    for (Index vocab = 2; vocab <= 3; ++vocab)
        for (const Pair& pair : pairs(vocab))
            for (const Branching& branching : {Branching{}, {1}, {1, 1}, {1, 1, 1}, {2}, {3}, {2, 1}})
                for (const Kind kind : kinds)
                    must_hold(name + " on " + to_string(branching) + ": " + pair.name, [&] {
                        const Index depth = std::ssize(branching);
                        return is_lossless(rule, {pair.draft, branching, {kind}}, pair.target, depth);
                    });
    const Remembered draft = ContextModel(3, 11), target = ContextModel(3, 12);
    must_hold(name + ": rounds on chains", [&] {
        return rounds(rule, Draft(draft, {1, 1}, {kinds.front()}), target, 2, 4, 15000).holds() &&
               rounds(rule, Draft(draft, {1, 1}, {kinds.back()}), target, 2, 4, 15000).holds() &&
               rounds(rule, Draft(ex3_draft, {1}, {kinds.front()}), Remembered(ex3_target), 1, 2, 15000).holds();
    });
    must_hold(name + ": rounds on trees", [&] {
        return rounds(rule, Draft(draft, {2, 1}, {kinds.front()}), target, 2, 4, 15000).holds();
    });
}

}  // namespace proof

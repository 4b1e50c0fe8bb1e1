// Measures rules by running them: tokens per round, and the bound on them.
#pragma once

#include <utility>

#include <specsample/specsample.hpp>
#include <specsample/theory.hpp>

#include "compare_rules/families.hpp"

/// A model with one distribution after every prefix.
struct Fixed {
    const Eigen::VectorXf* row;
    static constexpr bool stable_rows = true;

    Eigen::Map<const Eigen::VectorXf> operator()(std::span<const specsample::Token>) const {
        return {row->data(), row->size()};
    }
};

/// A drafter of the likeliest token.
struct Likeliest {
    const Eigen::VectorXf* row;

    specsample::Token operator()(std::span<const specsample::Token>) const {
        return static_cast<specsample::Token>(specsample::kernels::argmax(*row));
    }
};

/// Many rounds of a rule after the empty text.
template <class Draft, class Rule>
specsample::Tally many_rounds(const Rule& rule, Draft draft, const Pair& pair, specsample::Index depth, int rounds) {
    specsample::Sampler sampler(std::move(draft), Fixed{&pair.target},
                                {.lookahead = depth, .seed = 1, .check = specsample::Check::entries_read}, rule);
    specsample::Tally tally;
    for (int round = 0; round < rounds; ++round)
        tally.record(sampler.step({}, {.request = static_cast<std::uint64_t>(round)}).counts());
    return tally;
}

template <class Rule>
double chain_tokens(const Rule& rule, const Pair& pair, specsample::Index depth, int rounds) {
    return many_rounds(rule, Fixed{&pair.draft}, pair, depth, rounds).tokens_per_round();
}

template <class Rule, class Children>
double tree_tokens(const Rule& rule, const Children& children, const Pair& pair,
                   const std::vector<specsample::Index>& branching, int rounds) {
    const auto depth = static_cast<specsample::Index>(branching.size());
    return many_rounds(rule, specsample::TreeDrafter(Fixed{&pair.draft}, branching, children), pair, depth, rounds)
        .tokens_per_round();
}

/// The one-round bound of a chain, estimated as the mean over drafted paths.
inline double chain_bound(const Pair& pair, specsample::Index depth, int rounds) {
    std::vector<double> ratios(static_cast<std::size_t>(depth));
    double sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const specsample::RoundRng rng(1, static_cast<std::uint64_t>(round), 0);
        for (specsample::Index i = 0; i < depth; ++i) {
            const auto random = rng.at(specsample::Purpose::draft, i);
            const auto token = draw(random, pair.draft).index;
            ratios[static_cast<std::size_t>(i)] = static_cast<double>(pair.target[token]) / pair.draft[token];
        }
        sum += specsample::theory::one_round_bound_of_path(ratios);
    }
    return sum / rounds;
}

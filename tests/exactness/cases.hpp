// The models and statistics on which every lossless rule is proved, for the distribution tests and for the program that
// mutants are judged by.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <specsample/drafters.hpp>
#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>
#include <specsample/theory.hpp>
#include <specsample/tree.hpp>
#include <specsample/verify.hpp>
#include <specsample/vocabularies.hpp>

#include "support/any_model.hpp"

namespace cases {

using namespace specsample;
using namespace specsample::attention;
using namespace specsample::children;
using namespace specsample::filters;
using namespace specsample::heads;
using namespace specsample::kernels;
using namespace specsample::theory;
using namespace specsample::vocabularies;
using namespace specsample::walks;
using namespace specsample::testing;

inline Eigen::VectorXd row(std::initializer_list<double> values) {
    Eigen::VectorXd result(static_cast<Index>(values.size()));
    std::copy(values.begin(), values.end(), result.begin());
    return result;
}

/// The two running examples of the field: three tokens with acceptance 7/10, two tokens with acceptance 2/3.
inline const FixedModel ex3_target{row({0.5, 0.3, 0.2})}, ex3_draft{row({0.2, 0.3, 0.5})};
inline const FixedModel toy_target{row({1. / 3, 2. / 3})}, toy_draft{row({2. / 3, 1. / 3})};

/// Returns every row as a view of one buffer, as engines do.
struct ReusedBuffer {
    ContextModel model;
    Eigen::VectorXd buffer = {};

    Eigen::Map<const Eigen::VectorXd> operator()(std::span<const Token> prefix) {
        const Eigen::VectorXd row = model(prefix);
        buffer = row;  // a copy into the same memory
        return {buffer.data(), buffer.size()};
    }
};

/// A drafter of the likeliest token of a model.
struct Greedy {
    ContextModel model;

    Token operator()(std::span<const Token> prefix) const { return static_cast<Token>(argmax(model(prefix))); }
};

/// Call f(name, draft, target) for every pair of models with `vocab` tokens.
template <class F>
void for_pairs(Index vocab, F&& f) {
    const ContextModel smooth(vocab, 1), other(vocab, 2), zeros(vocab, 3, RowKind::with_zeros),
        other_zeros(vocab, 4, RowKind::with_zeros), peaked(vocab, 5, RowKind::peaked),
        masses(vocab, 6, RowKind::point_masses), other_masses(vocab, 7, RowKind::point_masses);
    const auto of = [&](const char* name, auto draft, const any::Model& target) { f(name, draft, target); };
    const auto dense = [&](const char* name, const any::Model& draft, const any::Model& target) {
        f(name, draft, target);
    };
    dense("smooth, smooth", smooth, other);
    dense("p = q", smooth, smooth);
    dense("near tie", Nudged<ContextModel>{smooth, 1e-9}, smooth);
    dense("zeros, zeros", zeros, other_zeros);
    dense("zeros, peaked", zeros, peaked);
    dense("peaked, zeros", peaked, zeros);
    dense("point masses, smooth", masses, smooth);
    dense("smooth, point masses", smooth, masses);
    dense("point masses, point masses", masses, other_masses);
    of("one buffer for all rows", ReusedBuffer{other}, smooth);
    of("greedy drafter", Greedy{other}, smooth);
    of("greedy drafter, zeros", Greedy{smooth}, zeros);
    if (vocab == 4) dense("disjoint supports", FixedModel{row({0.5, 0.5, 0, 0})}, FixedModel{row({0, 0, 0.25, 0.75})});
}

/// Call f(name, draft, target, lookahead) for every pair and lookahead.
template <class F>
void for_cases(Index max_vocab, Index max_lookahead, F&& f) {
    for (Index vocab = 1; vocab <= max_vocab; ++vocab)
        for_pairs(vocab, [&](const std::string& name, auto draft, auto target) {
            for (Index lookahead = 0; lookahead <= max_lookahead; ++lookahead)
                f("V = " + std::to_string(vocab) + ", K = " + std::to_string(lookahead) + ": " + name, draft, target,
                  lookahead);
        });
}

/// Counts of texts against their exact distribution.
struct ChiSquare {
    double statistic = 0;
    double bound = 0;  ///< exceeded with probability 1e-9 by a correct sampler

    bool holds() const { return statistic <= bound; }
};

inline ChiSquare chi_square(const TextDistribution& observed, const TextDistribution& expected, double samples) {
    // Cells with fewer than 10 expected texts are pooled into one.
    double statistic = 0, pooled_expected = 0, pooled_observed = 0, degrees = -1;
    const auto add = [&](double seen, double mean) {
        statistic += (seen - mean) * (seen - mean) / mean;
        degrees += 1;
    };
    double impossible = samples;
    for (const auto& [text, probability] : expected) {
        const auto found = observed.find(text);
        const double seen = found == observed.end() ? 0 : found->second;
        impossible -= seen;
        if (probability * samples >= 10) {
            add(seen, probability * samples);
        } else {
            pooled_expected += probability * samples;
            pooled_observed += seen;
        }
    }
    if (pooled_expected >= 10) add(pooled_observed, pooled_expected);
    if (impossible > 0) statistic = INFINITY;
    // Wilson and Hilferty's cube: z = 6 is a false alarm in 1e9.
    const double scale = 2 / (9 * std::max(degrees, 1.0));
    return {statistic, std::max(degrees, 1.0) * std::pow(1 - scale + 6 * std::sqrt(scale), 3)};
}

/// The joint distribution of `length` tokens over many rounds and requests, drawn with the keyed RNG as users get it.
/// Only this detects random numbers that two rounds, or two requests, share.
template <class Rule, class Draft, class Target>
ChiSquare rounds(const Rule& rule, Draft draft, Target target, Index lookahead, Index length, int samples) {
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .seed = 2024}, rule);
    TextDistribution observed;
    for (int request = 0; request < samples; ++request)
        ++observed[sampler.generate(std::vector<Token>{},
                                    {.max_new_tokens = length, .request = static_cast<std::uint64_t>(request)})];
    return chi_square(observed, joint_distribution(target, length), samples);
}

}  // namespace cases

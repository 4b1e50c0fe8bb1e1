// The rules for chains of any distributions: most properties of one of them must hold for all.
#pragma once

#include <specsample/verify.hpp>

namespace rules {

/// Call f(rule, name) for each.
template <class F>
void for_each(const F& f) {
    f(specsample::TokenVerification{}, "token verification");
    f(specsample::BlockVerification{}, "block verification");
    f(specsample::SampleMatch{}, "sample match");
    f(specsample::GumbelMatch{}, "Gumbel match");
    f(specsample::GreedyMatch{}, "greedy match");
}

/// The distributions of a draft as a rule takes them: under one that shares the target's noise, tokens that were drawn
/// without it are point masses.
template <class Rule, class Distributions>
decltype(auto) drafted_for(const Rule&, const Distributions& distributions) {
    if constexpr (requires { requires bool(Rule::shares_noise); }) {
        return specsample::PointMass{};
    } else {
        return (distributions);
    }
}

}  // namespace rules

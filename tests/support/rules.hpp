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

}  // namespace rules

// Ends drafts that are unlikely to be accepted, by what the drafter itself expects.
#pragma once

#include <memory>

#include "generate/learnt_costs.hpp"

/// Ends a draft behind a token where it is so unlikely that all of it is accepted that no further one would pay. The
/// token is kept, so the stop is lossless under every rule.
/// @tparam Model   likelihood(): about how often all of the draft so far is right
template <class Model>
struct UnlikelyStop {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const LearntCosts> costs;

    static bool before(const auto&) { return false; }
    bool after(double) const { return model->likelihood() < costs->worthwhile(); }
};

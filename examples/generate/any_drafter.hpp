// Drafters of every kind behind one type, so that a program can choose one when it runs.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include <specsample/drafters.hpp>
#include <specsample/specsample.hpp>

/// A model that returns its rows by value.
using DraftModel = std::function<Eigen::VectorXf(std::span<const specsample::Token>)>;

/// Any drafter over rows of that type.
using AnyDrafter = specsample::choosing::AnyDrafter<specsample::TreeDrafter<DraftModel>::Distribution>;

/// A drafter that calls a function before each of its rounds.
class PreparedDrafter {
  public:
    using Distribution = AnyDrafter::Distribution;

    PreparedDrafter(std::function<void(std::span<const specsample::Token>)> prepare, AnyDrafter drafter)
        : prepare_(std::move(prepare)), drafter_(std::move(drafter)) {}

    template <class L>
    void propose(std::span<const specsample::Token> prefix, const specsample::RoundRng& rng,
                 specsample::DraftTree<L>& draft_tree) {
        prepare_(prefix);
        drafter_.propose(prefix, rng, draft_tree);
    }

  private:
    std::function<void(std::span<const specsample::Token>)> prepare_;
    AnyDrafter drafter_;
};

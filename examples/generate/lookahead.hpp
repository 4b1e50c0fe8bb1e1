// How many tokens a round drafts: always as many as allowed, or as many as pay.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include <specsample/length.hpp>

#include "generate/costs.hpp"

class Lookahead {
  public:
    /// Always the largest one allowed.
    Lookahead() = default;

    /// The one that pays best. `cost(n)`: of a round whose pass has n positions, its drafting included, in passes over
    /// one position. It is asked in every round, so it may learn.
    explicit Lookahead(std::function<double(specsample::Index)> cost) : goodput_(std::in_place, 0, std::move(cost)) {}

    /// The one that pays best for measured costs.
    explicit Lookahead(const Costs& costs)
        : Lookahead([costs](specsample::Index n) {
              return costs.verify_curve.at(static_cast<std::size_t>(n - 1)) + costs.draft * static_cast<double>(n - 1);
          }) {}

    /// Always the largest one allowed, for a drafter that ends its drafts by itself and learns from rounds.
    static Lookahead of_learner(std::function<void(const specsample::RoundCounts&)> learn) {
        Lookahead made;
        made.learn_ = std::move(learn);
        return made;
    }

    specsample::Index next(specsample::Index most) const { return goodput_ ? goodput_->next(most) : most; }
    void record(const specsample::RoundCounts& counts) {
        if (goodput_) goodput_->record(counts);
        if (learn_) learn_(counts);
    }

  private:
    std::optional<specsample::GoodputLength<std::function<double(specsample::Index)>>> goodput_;
    std::function<void(const specsample::RoundCounts&)> learn_{};
};

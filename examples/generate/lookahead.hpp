// The lookahead of a text: fixed, or chosen by measured costs.
#pragma once

#include <optional>

#include <specsample/length.hpp>

#include "generate/costs.hpp"

class Lookahead {
  public:
    /// Always the largest one allowed.
    Lookahead() = default;

    /// The best one for these costs.
    explicit Lookahead(const Costs& costs) : goodput_(std::in_place, costs.draft, costs.verify_curve) {}

    bool adapts() const { return goodput_.has_value(); }

    specsample::Index next(specsample::Index most) const { return goodput_ ? goodput_->next(most) : most; }
    void record(const specsample::RoundCounts& counts) {
        if (goodput_) goodput_->record(counts);
    }

  private:
    std::optional<specsample::GoodputLength<std::vector<double>>> goodput_;
};

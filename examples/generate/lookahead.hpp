// The lookahead of a text: fixed, or chosen by measured costs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <specsample/length.hpp>

#include "generate/costs.hpp"

class Lookahead {
  public:
    /// Always the largest one allowed.
    Lookahead() = default;

    /// The best one for these costs.
    explicit Lookahead(const Costs& costs) : goodput_(std::in_place, costs.draft, round_curve(costs)) {}

    bool adapts() const { return goodput_.has_value(); }

    specsample::Index next(specsample::Index most) const { return goodput_ ? goodput_->next(most) : most; }
    void record(const specsample::RoundCounts& counts) {
        if (goodput_) goodput_->record(counts);
    }

  private:
    /// What a round costs beside its drafted tokens: without any, the drafter has nothing to do.
    static std::vector<double> round_curve(const Costs& costs) {
        std::vector<double> curve = costs.verify_curve;
        for (std::size_t n = 1; n < curve.size(); ++n) curve[n] += costs.start;
        return curve;
    }

    std::optional<specsample::GoodputLength<std::vector<double>>> goodput_;
};

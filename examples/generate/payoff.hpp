// Whether one more drafted token pays, by what rounds have brought and cost.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <specsample/sampler.hpp>

#include "generate/learnt_costs.hpp"

/// What pays has a better ratio of expected tokens to cost than the recent rounds had on the whole: then the next
/// rounds have a better one. Probabilities are the draft model's, corrected by how many tokens were accepted for what
/// it promised; costs are in target passes over one position.
class Payoff {
  public:
    explicit Payoff(std::shared_ptr<const LearntCosts> costs) : costs_(std::move(costs)) {}

    /// Whether the target's pass should have a position more, behind `size` drafted ones, for a token that is accepted
    /// with this probability.
    bool token_pays(double probability, specsample::Index size) const {
        return expected(probability) > ratio() * position(size);
    }

    /// Whether the draft model should be asked what follows such a token. It gives at least one more token.
    bool row_pays(double probability, specsample::Index size) const {
        return expected(probability) * sureness_ > ratio() * (row() + position(size));
    }

    /// Called before every round.
    void begin() {
        rows_ = 0;
        promised_ = 0;
    }

    /// The draft model was asked, and its most probable token has this probability.
    void count_row(double largest) {
        ++rows_;
        sureness_ += (1 - memory) * (largest - sureness_);
    }

    /// A token was drafted that is accepted with this probability.
    void count_token(double probability) { promised_ += probability; }

    /// Rows of this round.
    specsample::Index rows() const { return rows_; }

    void record(const specsample::RoundCounts& counts) {
        tokens_ = memory * tokens_ + static_cast<double>(counts.tokens);
        cost_ = memory * cost_ + costs_->pass(counts.proposed + 1) + costs_->draft(rows_);
        if (rows_ == 0) return;
        all_accepted_ = memory * all_accepted_ + static_cast<double>(counts.accepted);
        all_promised_ = memory * all_promised_ + promised_;
    }

  private:
    static constexpr double memory = .98;     // the weight of a round after one more
    static constexpr double cheapest = .005;  // a position is never free

    double ratio() const { return tokens_ / cost_; }
    double position(specsample::Index size) const {
        return std::max(cheapest, costs_->pass(size + 2) - costs_->pass(size + 1));
    }
    double row() const { return std::max(cheapest, costs_->draft(rows_ + 1) - costs_->draft(rows_)); }
    double expected(double probability) const { return std::min(1.0, probability * all_accepted_ / all_promised_); }

    std::shared_ptr<const LearntCosts> costs_;
    double tokens_ = 7, cost_ = 5;                // of recent rounds, and before them a guess
    double all_accepted_ = 2, all_promised_ = 2;  // of tokens from the draft model
    double sureness_ = .6;                        // the mean of its largest probabilities
    double promised_ = 0;                         // of this round
    specsample::Index rows_ = 0;
};

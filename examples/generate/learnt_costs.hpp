// What rounds cost, learnt from the rounds of a text while it is written.
#pragma once

#include <algorithm>
#include <optional>

#include <specsample/core/types.hpp>

/// A line through times, of which about the last fifty count.
class TimeLine {
  public:
    /// Expected before anything is observed: start + rise * x.
    TimeLine(double start, double rise) {
        add(prior, 0, start);
        add(prior, far, start + rise * far);
    }

    void observe(double x, double seconds) {
        for (double* sum : {&weight_, &x_, &xx_, &t_, &xt_}) *sum *= memory;
        add(1, x, seconds);
    }

    double at(double x) const {
        const double rise = std::max(0.0, (weight_ * xt_ - x_ * t_) / (weight_ * xx_ - x_ * x_));
        return std::max((t_ + rise * (weight_ * x - x_)) / weight_, least);
    }

  private:
    static constexpr double memory = .98, prior = .5, far = 8, least = 1e-9;

    void add(double weight, double x, double t) {
        weight_ += weight;
        x_ += weight * x;
        xx_ += weight * x * x;
        t_ += weight * t;
        xt_ += weight * x * t;
    }

    double weight_ = 0, x_ = 0, xx_ = 0, t_ = 0, xt_ = 0;
};

class LearntCosts {
  public:
    /// @param drafted   what a drafted token is expected to cost, in target passes over one position
    explicit LearntCosts(double drafted) : drafted_(drafted) {}

    /// Learns from a round. Passes over one position must come now and then: without them a slower machine and a
    /// dearer position look the same.
    /// @param drafted         tokens that the model drafted; 0 if it drafted none
    /// @param positions       of the target's pass
    /// @param draft_seconds   ignored if nothing was drafted
    void observe(specsample::Index drafted, specsample::Index positions, double draft_seconds, double target_seconds) {
        const auto x = static_cast<double>(positions - 1);
        if (!pass_) {
            const double one = target_seconds / (1 + expected_rise * x);
            pass_.emplace(one, expected_rise * one);
            draft_.emplace(0, drafted_ * one);
        }
        learn(*pass_, x, target_seconds);
        if (drafted > 0) learn(*draft_, static_cast<double>(drafted), draft_seconds);
    }

    /// Time of a target pass over n positions, over that of one.
    double pass(specsample::Index n) const {
        const auto x = static_cast<double>(n - 1);
        return pass_ ? pass_->at(x) / pass_->at(0) : 1 + expected_rise * x;
    }

    /// Time of drafting n tokens, in target passes over one position.
    double draft(specsample::Index n) const {
        if (n == 0) return 0;
        return draft_ ? draft_->at(static_cast<double>(n)) / pass_->at(0) : drafted_ * static_cast<double>(n);
    }

  private:
    static constexpr double expected_rise = .1;  // of a pass, per further position
    static constexpr double outlier = 4;

    /// A program that had to wait for the processor says little about its work, so what takes much longer than expected
    /// is cut.
    void learn(TimeLine& line, double x, double seconds) const {
        line.observe(x, std::min(seconds, outlier * std::max(line.at(x), pass_->at(0))));
    }

    double drafted_;
    std::optional<TimeLine> pass_{}, draft_{};  // over positions beyond the first, and over drafted tokens
};

// What rounds cost, learnt from rounds while texts are written.
#pragma once

#include <algorithm>
#include <optional>

#include <specsample/core/types.hpp>

/// A line through times, of which about the last hundred count.
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

    static constexpr double memory = .99;  ///< the weight of a time after one more

  private:
    static constexpr double prior = .5, far = 8, least = 1e-9;

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
    explicit LearntCosts(double drafted) : drafted_passes_(drafted) {}

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
        }
        // A program that had to wait for the processor says little about its work, so a time far from what is expected
        // counts as one that is nearer: the mean of such times is near their median.
        const double expected = pass_->at(x);
        pass_->observe(x, std::clamp(target_seconds, expected / outlier, expected * outlier));
        if (drafted == 0) return;
        const auto tokens = static_cast<double>(drafted);
        const double passes = std::min(draft_seconds / pass_->at(0), draft(drafted) + tokens);  // a pass more for each
        drafted_passes_ = TimeLine::memory * drafted_passes_ + passes;
        drafted_tokens_ = TimeLine::memory * drafted_tokens_ + tokens;
    }

    /// Time of a target pass over n positions, over that of one.
    double pass(specsample::Index n) const {
        const auto x = static_cast<double>(n - 1);
        return pass_ ? pass_->at(x) / pass_->at(0) : 1 + expected_rise * x;
    }

    /// Time of drafting n tokens, in target passes over one position.
    double draft(specsample::Index n) const { return static_cast<double>(n) * drafted_passes_ / drafted_tokens_; }

    /// The least probability that a draft so far is accepted, at which one more token pays. It gains a token with that
    /// probability times its own acceptance, about .7, and rounds without it write about 1.4 tokens per pass.
    double worthwhile() const { return 1.4 / .7 * (draft(1) + pass(2) - 1); }

  private:
    static constexpr double expected_rise = .1;  // of a pass, per further position
    static constexpr double outlier = 1.5;

    std::optional<TimeLine> pass_{};  // over positions beyond the first
    double drafted_passes_;           // the time of drafts, in target passes over one position
    double drafted_tokens_ = 1;
};

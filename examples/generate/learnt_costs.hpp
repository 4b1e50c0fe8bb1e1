// What rounds cost, learnt from rounds while texts are written.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include <specsample/core/types.hpp>

/// Times over a small number, of which about the last hundred count. Each number has the time of the line through its
/// own times and those beside it, so the curve may bend.
template <std::size_t count>
class TimeCurve {
  public:
    /// Expected before anything is observed: the line from start to end.
    TimeCurve(double start, double end) {
        points_.front() = {prior, prior * start};
        points_.back() = {prior, prior * end};
    }

    void observe(std::size_t x, double seconds) {
        for (Point& point : points_) {
            point.weight *= memory;
            point.seconds *= memory;
        }
        add(x, seconds, 1);
    }

    void add(std::size_t x, double seconds, double weight) {
        Point& point = points_[std::min(x, count - 1)];
        point.weight += weight;
        point.seconds += weight * seconds;
    }

    double at(std::size_t x) const {
        x = std::min(x, count - 1);
        double weight = 0, d = 0, dd = 0, t = 0, dt = 0;  // sums over the points, with distances d from x
        for (std::size_t i = 0; i < count; ++i) {
            const double distance = static_cast<double>(i) - static_cast<double>(x);
            const double nearness = std::pow(beside, std::abs(distance));
            weight += nearness * points_[i].weight;
            d += nearness * points_[i].weight * distance;
            dd += nearness * points_[i].weight * distance * distance;
            t += nearness * points_[i].seconds;
            dt += nearness * points_[i].seconds * distance;
        }
        return std::max((dd * t - d * dt) / (weight * dd - d * d), least);
    }

    static constexpr double memory = .99;  ///< the weight of a time after one more

  private:
    static constexpr double prior = .5, beside = .2, least = 1e-9;

    struct Point {
        double weight = 0, seconds = 0;
    };
    std::array<Point, count> points_{};
};

class LearntCosts {
  public:
    /// @param drafted   what a drafted token is expected to cost, in target passes over one position
    explicit LearntCosts(double drafted) : draft_(0, drafted * most) {}

    /// Learns from a round. Passes over one position must come now and then: without them a slower machine and a
    /// dearer position look the same.
    /// @param rows            that the draft model was asked for
    /// @param positions       of the target's pass
    /// @param draft_seconds   ignored if nothing was drafted
    void observe(specsample::Index rows, specsample::Index positions, double draft_seconds, double target_seconds) {
        const auto x = static_cast<std::size_t>(positions - 1);
        if (!pass_) {
            const double one = target_seconds / (1 + expected_rise * static_cast<double>(x));
            pass_.emplace(one, one * (1 + expected_rise * most));
        }
        // A program that had to wait for the processor says little about its work, so a time far from what is expected
        // counts as one that is nearer: the mean of such times is near their median.
        const double expected = pass_->at(x);
        pass_->observe(x, std::clamp(target_seconds, expected / outlier, expected * outlier));
        if (rows == 0) return;
        const auto n = static_cast<std::size_t>(rows);
        const double limit = draft_.at(n) + static_cast<double>(rows);  // a pass more for each
        draft_.observe(n, std::min(draft_seconds / pass_->at(0), limit));
        draft_.add(0, 0, 1 - draft_.memory);  // no row takes no time, which matters where all drafts are as long
    }

    /// Time of a target pass over n positions, over that of one.
    double pass(specsample::Index n) const {
        if (!pass_) return 1 + expected_rise * static_cast<double>(n - 1);
        return pass_->at(static_cast<std::size_t>(n - 1)) / pass_->at(0);
    }

    /// Time of a draft with n rows of the draft model, in target passes over one position.
    double draft(specsample::Index n) const { return n == 0 ? 0 : draft_.at(static_cast<std::size_t>(n)); }

    static constexpr double tokens_per_pass = 1.4;  ///< about what rounds write whose drafts are drawn

    /// The least probability that a draft so far is accepted, at which one more token pays. It gains a token with that
    /// probability times its own acceptance, about .7.
    double worthwhile() const { return tokens_per_pass / .7 * (draft(1) + pass(2) - 1); }

  private:
    static constexpr std::size_t most = 8;       // drafted tokens; more cost as many
    static constexpr double expected_rise = .1;  // of a pass, per further position
    static constexpr double outlier = 1.5;

    std::optional<TimeCurve<most + 1>> pass_{};  // over positions beyond the first
    TimeCurve<most + 1> draft_;                  // in target passes over one position, over rows
};

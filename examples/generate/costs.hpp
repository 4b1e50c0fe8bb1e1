// The measured costs of passes on this machine, which decide whether speculation pays.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <specsample/specsample.hpp>

#include "engine/model.hpp"
#include "generate/stopwatch.hpp"

struct Costs {
    double target_pass = 0;              ///< seconds of one target pass over one position
    double draft = 0;                    ///< time of a drafted token / time of a target pass
    std::vector<double> verify_curve{};  ///< [n - 1]: time of a target pass over n positions / time over one
};

/// The median time of repeated calls, in seconds of this thread's work.
template <class Work>
double median_seconds(Work&& work) {
    std::vector<double> times(31);
    for (double& time : times) {
        const WorkStopwatch watch;
        work();
        time = watch.seconds();
    }
    std::ranges::nth_element(times, times.begin() + 15);
    return times[15];
}

/// Measures passes over up to `positions` positions at the end of `text`, as far as the text goes.
/// @param drafts   drafts the token after a text once more: draft_one(text)
template <class Drafts>
Costs measure(const Drafts& drafts, engine::Model& target, std::span<const specsample::Token> text,
              specsample::Index positions) {
    positions = std::min(positions, static_cast<specsample::Index>(text.size()));
    const auto pass_over = [&](specsample::Index n) { return median_seconds([&] { target.score(text, n); }); };
    Costs costs{.target_pass = pass_over(1)};
    costs.draft = median_seconds([&] { drafts.draft_one(text); }) / costs.target_pass;
    for (specsample::Index n = 1; n <= positions; ++n)
        costs.verify_curve.push_back(n == 1 ? 1 : pass_over(n) / costs.target_pass);
    return costs;
}

// What passes cost on this machine: the two figures that decide whether speculation pays.
#pragma once

#include <algorithm>
#include <vector>

#include "generate/language_model.hpp"

struct Costs {
    double target_pass = 0;              ///< seconds of one target pass over one position
    double draft = 0;                    ///< one draft pass over one target pass
    std::vector<double> verify_curve{};  ///< [n - 1]: a target pass over n positions over one over one
};

/// Median seconds of scoring the last n positions of a text again.
inline double pass_seconds(engine::Model& model, std::span<const specsample::Token> text, specsample::Index n) {
    std::vector<double> times(31);
    for (double& time : times) {
        const Stopwatch watch;
        model.score(text, n);
        time = watch.seconds();
    }
    std::ranges::nth_element(times, times.begin() + 15);
    return times[15];
}

/// Measure at the end of `text`, up to `positions` positions, as far as the text goes.
inline Costs measure(engine::Model draft, engine::Model target, std::span<const specsample::Token> text,
                     specsample::Index positions) {
    positions = std::min(positions, static_cast<specsample::Index>(text.size()));
    Costs costs{.target_pass = pass_seconds(target, text, 1)};
    costs.draft = pass_seconds(draft, text, 1) / costs.target_pass;
    for (specsample::Index n = 1; n <= positions; ++n)
        costs.verify_curve.push_back(n == 1 ? 1 : pass_seconds(target, text, n) / costs.target_pass);
    return costs;
}

// The lookahead of a text: fixed, or chosen by measured costs.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <specsample/length.hpp>
#include <specsample/specsample.hpp>

#include "generate/stopwatch.hpp"
#include "llama_cpp/text_model.hpp"

/// The measured costs of passes on this machine, which decide whether speculation pays.
struct PassCosts {
    double target_pass = 0;              ///< seconds of one target pass over one position
    double draft = 0;                    ///< time of a drafted token / time of a target pass
    std::vector<double> verify_curve{};  ///< [n - 1]: time of a target pass over n positions / time over one
};

/// The median time of three calls in seconds, after a first call to warm up.
template <class Work>
double median_seconds_of(Work&& work) {
    work();
    std::array<double, 3> times;
    for (double& time : times) {
        const Stopwatch watch;
        work();
        time = watch.seconds();
    }
    std::ranges::sort(times);
    return times[1];
}

/// Measures passes after a text, over 1, 2, 3, 5, 9 ... positions; costs between them are interpolated linearly.
/// @param draft   null where drafts cost nothing
inline PassCosts measure(TextModel* draft, TextModel target, std::vector<specsample::Token> text,
                         specsample::Index positions) {
    using specsample::Index;
    const auto size = static_cast<Index>(text.size());
    text.resize(static_cast<std::size_t>(size + positions - 1), text.back());
    const auto pass_over = [&](Index n) {
        return median_seconds_of([&] { target(std::span(text).first(static_cast<std::size_t>(size + n - 1)), n); });
    };
    PassCosts costs{.target_pass = pass_over(1), .verify_curve = {1}};
    for (Index n = 1; n < positions;) {
        const Index next = std::min(n + std::max<Index>(n - 1, 1), positions);
        const double from = costs.verify_curve.back(), to = pass_over(next) / costs.target_pass;
        for (Index i = n + 1; i <= next; ++i)
            costs.verify_curve.push_back(from +
                                         (to - from) * static_cast<double>(i - n) / static_cast<double>(next - n));
        n = next;
    }
    if (draft == nullptr) return costs;
    TextModel drafting = *draft;  // a copy, with its own stopwatch
    costs.draft = median_seconds_of([&] { drafting(text, 1); }) / costs.target_pass;
    return costs;
}

class TextLookahead {
  public:
    /// Always the largest one allowed.
    TextLookahead() = default;

    /// The best one for these costs, corrected by the measured times of rounds.
    explicit TextLookahead(const PassCosts& costs) : goodput_(std::in_place, costs.draft, costs.verify_curve) {}

    bool adapts() const { return goodput_.has_value(); }

    specsample::Index next(specsample::Index most) const { return goodput_ ? goodput_->next(most) : most; }
    void record(const specsample::RoundCounts& counts) {
        if (goodput_) goodput_->record(counts);
    }
    void observe(specsample::Index drafted, double seconds) {
        if (goodput_) goodput_->observe(drafted, seconds);
    }

  private:
    std::optional<specsample::GoodputLength<std::vector<double>>> goodput_;
};

// A model of the engine as specsample sees it: a prefix to probabilities, with a stopwatch.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

#include "engine/model.hpp"
#include "generate/stopwatch.hpp"

/// Logits through temperature and nucleus. The engine's model compares the prefix with its own cache, so nothing has
/// to be rolled back from outside.
class LanguageModel {
  public:
    /// @throws std::invalid_argument for a temperature below 0 or a top_p outside (0, 1]
    LanguageModel(engine::Model model, double temperature, double top_p)
        : model_(std::move(model)), shaping_{.temperature = temperature, .top_p = top_p} {
        shaping_.check();  // says no before anything is written
    }

    Eigen::VectorXf operator()(std::span<const specsample::Token> prefix) {
        return std::move(score(prefix, 1).front());
    }

    std::vector<Eigen::VectorXf> operator()(std::span<const specsample::Token> prefix, specsample::Index n) {
        return score(prefix, n);
    }

    /// Fill the cache with a prompt, off the clock.
    void prefill(std::span<const specsample::Token> prompt) { model_.score(prompt, 1); }

    /// The prefix of the last call: after a round, the text and what was drafted after it.
    std::span<const specsample::Token> last_prefix() const { return last_prefix_; }

    double seconds() const { return seconds_; }
    long passes() const { return passes_; }
    specsample::Index context() const { return model_.context(); }

  private:
    std::vector<Eigen::VectorXf> score(std::span<const specsample::Token> prefix, specsample::Index n) {
        const Stopwatch watch;
        const engine::Logits logits = model_.score(prefix, n);
        std::vector<Eigen::VectorXf> rows;
        for (specsample::Index i = 0; i < n; ++i) {
            const auto row = specsample::shape(specsample::Logits(logits.row(i)), shaping_, prefix, memory_);
            rows.emplace_back(specsample::as_row(row).matrix());
        }
        last_prefix_.assign(prefix.begin(), prefix.end());
        ++passes_;
        seconds_ += watch.seconds();
        return rows;
    }

    engine::Model model_;
    specsample::Shaping shaping_;
    specsample::ShapedMemory<float> memory_;
    std::vector<specsample::Token> last_prefix_;
    double seconds_ = 0;
    long passes_ = 0;
};

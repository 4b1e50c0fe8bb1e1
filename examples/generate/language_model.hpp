// A model of the engine as a model of specsample: a prefix to probabilities, with a stopwatch.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/kernels.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include "engine/model.hpp"
#include "generate/stopwatch.hpp"

/// Logits to probabilities, by temperature and nucleus.
class RowShaper {
  public:
    /// @throws std::invalid_argument for a temperature below 0 or a top_p outside (0, 1]
    RowShaper(double temperature, double top_p) : shaping_{.temperature = temperature, .top_p = top_p} {
        shaping_.check();  // throws before anything is written
    }

    double temperature() const { return shaping_.temperature; }

    template <class Logits>
    Eigen::VectorXf operator()(const Logits& logits, std::span<const specsample::Token> prefix) {
        const auto row = specsample::shape(specsample::Logits(logits), shaping_, prefix, memory_);
        if (row.is_refused()) return row.probs().matrix();
        const auto& left = row.held();
        Eigen::VectorXf left_probabilities = specsample::kernels::softmax(left.numbers(), left.temperature());
        if (row.ids().holds_every_id()) return left_probabilities;
        Eigen::VectorXf probabilities = Eigen::VectorXf::Zero(row.size());
        for (specsample::Index place = 0; place < left.size(); ++place)
            probabilities[row.ids().id(place)] = left_probabilities[place];
        return probabilities;
    }

  private:
    specsample::SamplingParams shaping_;
    specsample::filters::ShapedMemory<float> memory_;
};

/// The engine's model compares a prefix with its own cache, so the caller never rolls it back. Copies share the model
/// and its cache, and have a stopwatch each.
class LanguageModel : public Metered {
  public:
    using Rows = std::vector<Eigen::VectorXf>;

    LanguageModel(std::shared_ptr<engine::Model> model, RowShaper shaper)
        : model_(std::move(model)), layers_(model_->layers()), shaper_(std::move(shaper)) {}

    LanguageModel(engine::Model model, double temperature, double top_p)
        : LanguageModel(std::make_shared<engine::Model>(std::move(model)), RowShaper(temperature, top_p)) {}

    /// The smaller model of its first layers, which drafts for the whole one from the same cache.
    LanguageModel of_layers(specsample::Index layers) const {
        LanguageModel result = *this;
        result.layers_ = layers;
        return result;
    }

    Eigen::VectorXf operator()(std::span<const specsample::Token> prefix) {
        return std::move(score(prefix, 1).front());
    }

    Rows operator()(std::span<const specsample::Token> prefix, specsample::Index n) { return score(prefix, n); }

    Rows operator()(std::span<const specsample::Token> prefix,
                    const specsample::Tree<specsample::Token, specsample::Index>& tree) {
        const Pass pass(*this);
        const engine::Logits logits = model_->score_tree(prefix, tree.tokens, tree.parents);
        last_prefix_.assign(prefix.begin(), prefix.end());
        Rows rows{shaper_(logits.row(0), prefix)};
        for (std::size_t i = 0; i < tree.tokens.size(); ++i)
            rows.push_back(shaper_(logits.row(static_cast<specsample::Index>(i) + 1), text_of(tree, i)));
        return rows;
    }

    /// Fills the cache with a prompt, without counting the time.
    void prefill(std::span<const specsample::Token> prompt) { model_->score(prompt, 1); }

    /// Frees the pages of drafted tokens that are not part of `text`.
    void keep(std::span<const specsample::Token> text) { model_->keep(text); }

    /// The prefix of the last call. After a round: the text and the drafted chain.
    std::span<const specsample::Token> last_prefix() const { return last_prefix_; }

    const std::shared_ptr<engine::Model>& engine() const { return model_; }
    specsample::Index context() const { return model_->context(); }
    specsample::Index layers() const { return layers_; }

  private:
    Rows score(std::span<const specsample::Token> prefix, specsample::Index n) {
        const Pass pass(*this);
        const engine::Logits logits = model_->score(prefix, n, layers_);
        Rows rows;
        for (specsample::Index i = 0; i < n; ++i) {
            const auto end = prefix.size() - static_cast<std::size_t>(n - 1 - i);
            rows.push_back(shaper_(logits.row(i), prefix.first(end)));
        }
        last_prefix_.assign(prefix.begin(), prefix.end());
        return rows;
    }

    /// The last prefix, followed by the path to a node of the tree behind it.
    std::span<const specsample::Token> text_of(const specsample::Tree<specsample::Token, specsample::Index>& tree,
                                               std::size_t node) {
        path_.clear();
        for (auto i = static_cast<specsample::Index>(node); i >= 0; i = tree.parents[static_cast<std::size_t>(i)])
            path_.push_back(tree.tokens[static_cast<std::size_t>(i)]);
        text_ = last_prefix_;
        text_.insert(text_.end(), path_.rbegin(), path_.rend());
        return text_;
    }

    std::shared_ptr<engine::Model> model_;
    specsample::Index layers_;
    RowShaper shaper_;
    std::vector<specsample::Token> last_prefix_;
    std::vector<specsample::Token> path_, text_;  // path to a node; prefix and path
};

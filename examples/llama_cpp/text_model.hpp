// A context of llama.cpp with sampling parameters: a prefix to the distribution of the next token.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>

#include "generate/stopwatch.hpp"
#include "llama_cpp/arguments.hpp"
#include "llama_cpp/glue.hpp"

/// A row of logits where llama.cpp wrote it, and the same row after the sampling parameters.
using LogitRow = Eigen::Map<const Eigen::ArrayXf>;
using TextRow = specsample::filters::ShapedRow<specsample::Logits<LogitRow>>;

/// llama.cpp's sampler chain, in its default order.
inline auto chain_of(const Sampling& given, const std::vector<specsample::Token>& banned) {
    using namespace specsample;
    using namespace specsample::filters;
    std::vector<Bias> biases;
    for (const Token token : banned) biases.emplace_back(token, -std::numeric_limits<double>::infinity());
    const Window window{.last_n = given.repeat_last_n < 0 ? whole_context : given.repeat_last_n};
    return Pipeline(LogitBias(std::move(biases)), RepetitionPenalty(given.repeat_penalty, window),
                    FrequencyPenalty(given.frequency_penalty, window), PresencePenalty(given.presence_penalty, window),
                    TopK(std::max<Index>(given.top_k, 0)), TypicalP(given.typical_p), TopP(given.top_p),
                    MinP(given.min_p), Temperature(std::max(given.temperature, 0.0)));
}

/// Applies sampling parameters to rows of logits.
class TextShape {
  public:
    using Context = std::span<const specsample::Token>;

    /// @param banned   tokens that are never written
    /// @throws std::invalid_argument for a parameter out of range
    TextShape(const Sampling& given, const std::vector<specsample::Token>& banned)
        : pipeline_(chain_of(given, banned)), temperature_(std::max(given.temperature, 0.0)) {
        const bool is_greedy = temperature_ == 0;  // the likeliest token passes every filter but typical-p
        const bool filters =
            given.typical_p != 1 || (!is_greedy && (given.top_k > 0 || given.top_p < 1 || given.min_p > 0));
        const bool adds = given.repeat_penalty != 1 || given.presence_penalty != 0 || given.frequency_penalty != 0;
        is_plain_ = banned.empty() && !filters && !(adds && given.repeat_last_n != 0);
    }

    /// Leaves logits as they are.
    TextShape() : TextShape({.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0}, {}) {}

    TextRow operator()(const LogitRow& row, Context context, specsample::filters::ShapedMemory<float>& memory) const {
        using namespace specsample;
        if (is_plain_) return shape(Logits(row, temperature_), Pipeline<>(), context, memory);
        return shape(Logits(row), pipeline_, context, memory);
    }

  private:
    decltype(chain_of({}, {})) pipeline_;
    double temperature_;
    bool is_plain_ = true;  ///< a temperature and nothing else
};

/// A model for draft and target alike, with a stopwatch. Copies share the cache.
class TextModel : public Metered {
    using Index = specsample::Index;
    using Text = std::span<const specsample::Token>;
    using TokenTree = specsample::Tree<specsample::Token, Index>;

  public:
    TextModel(std::shared_ptr<LlamaModel> model, TextShape shape)
        : model_(std::move(model)), shape_(std::move(shape)) {}

    /// The rows of a pass, shaped on first use.
    class Rows {
      public:
        explicit Rows(TextModel& model) : model_(&model) {}
        std::size_t size() const { return model_->rows_.size(); }
        const TextRow& operator[](std::size_t i) const { return model_->row(i); }
        const TextRow& operator()(Index i) const { return model_->row(static_cast<std::size_t>(i)); }

      private:
        TextModel* model_;
    };

    TextRow operator()(Text prefix) { return (*this)(prefix, 1)[0]; }
    Rows operator()(Text prefix, Index n) {
        return decode(prefix, {}, [&] { return (*model_)(prefix, n); });
    }
    Rows operator()(Text prefix, const TokenTree& tree) {
        return decode(prefix, tree, [&] { return (*model_)(prefix, tree); });
    }

    /// Empties the cache.
    void forget() { model_->keep({}); }

    /// The prefix of the last call. After a round: the text and the drafted chain.
    Text last_prefix() const { return prefix_; }

    /// The same model and cache with another shape.
    TextModel with(TextShape shape) const { return {model_, std::move(shape)}; }

  private:
    template <class Decode>
    Rows decode(Text prefix, const TokenTree& tree, const Decode& decode) {
        const Pass pass(*this);
        rows_ = decode();
        shaped_.clear();
        shaped_.resize(rows_.size());
        if (memory_.size() < rows_.size()) memory_.resize(rows_.size());
        prefix_.assign(prefix.begin(), prefix.end());
        tree_tokens_.assign(tree.tokens.begin(), tree.tokens.end());
        tree_parents_.assign(tree.parents.begin(), tree.parents.end());
        return Rows(*this);
    }

    const TextRow& row(std::size_t i) {
        if (!shaped_[i]) shaped_[i].emplace(shape_(rows_[i], context_of(i), memory_[i]));
        return *shaped_[i];
    }

    /// The text before the token of a row: a part of the prefix, or all of it and the path to a node.
    Text context_of(std::size_t i) {
        if (tree_tokens_.empty()) return Text(prefix_).first(prefix_.size() + 1 + i - rows_.size());
        path_.clear();
        for (auto node = static_cast<Index>(i) - 1; node >= 0; node = tree_parents_[static_cast<std::size_t>(node)])
            path_.push_back(tree_tokens_[static_cast<std::size_t>(node)]);
        context_ = prefix_;
        context_.insert(context_.end(), path_.rbegin(), path_.rend());
        return context_;
    }

    std::shared_ptr<LlamaModel> model_;
    TextShape shape_;

    // The last pass.
    std::vector<LogitRow> rows_;
    std::vector<std::optional<TextRow>> shaped_;
    std::vector<specsample::filters::ShapedMemory<float>> memory_;
    std::vector<specsample::Token> prefix_, tree_tokens_, path_, context_;
    std::vector<Index> tree_parents_;
};

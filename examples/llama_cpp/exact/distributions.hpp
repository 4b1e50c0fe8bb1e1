// Recorded rows of the real models, and the distributions of the rules on them: by enumeration on the likeliest tokens,
// and by counting on whole rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>
#include <specsample/testing.hpp>

#include "exact/chi_square.hpp"
#include "llama_cpp/glue.hpp"

namespace exact {

using namespace specsample;

/// The ids of the n largest numbers of a row.
inline std::vector<Token> largest(const Eigen::ArrayXf& row, Index n) {
    std::vector<Token> ids(static_cast<std::size_t>(row.size()));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Token>(i);
    std::ranges::partial_sort(ids, ids.begin() + n, std::greater(), [&](Token id) { return row[id]; });
    ids.resize(static_cast<std::size_t>(n));
    return ids;
}

/// A model after a text, restricted to some tokens: their probabilities, which sum to 1. Each row is computed once.
class Restricted {
  public:
    static constexpr bool stable_rows = true;

    Restricted(LlamaModel& model, std::vector<Token> text, std::vector<Token> ids)
        : model_(&model), text_(std::move(text)), ids_(std::move(ids)) {}

    const Eigen::VectorXd& operator()(std::span<const Token> places) const {
        const auto [at, is_new] = rows_->try_emplace({places.begin(), places.end()});
        if (is_new) at->second = compute(places);
        return at->second;
    }

  private:
    Eigen::VectorXd compute(std::span<const Token> places) const {
        std::vector<Token> prefix = text_;
        for (const Token place : places) prefix.push_back(ids_[static_cast<std::size_t>(place)]);
        const Eigen::ArrayXf logits = (*model_)(prefix, 1)[0];
        Eigen::ArrayXd row(std::ssize(ids_));
        for (Index i = 0; i < row.size(); ++i) row[i] = static_cast<double>(logits[ids_[static_cast<std::size_t>(i)]]);
        row = (row - row.maxCoeff()).exp();
        return row / row.sum();
    }

    LlamaModel* model_;
    std::vector<Token> text_;
    std::vector<Token> ids_;
    std::shared_ptr<std::map<std::vector<Token>, Eigen::VectorXd>> rows_ =
        std::make_shared<std::map<std::vector<Token>, Eigen::VectorXd>>();
};

/// The likeliest tokens of either model after a text.
inline std::vector<Token> likeliest(LlamaModel& draft, LlamaModel& target, const std::vector<Token>& text, Index each) {
    std::vector<Token> ids = largest(target(text, 1)[0], each);
    for (const Token id : largest(draft(text, 1)[0], each))
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    return ids;
}

/// The largest difference, over all strings, between the probabilities of a rule's text and of the target's.
template <class Rule, class Draft>
double distance(const Rule& rule, const Draft& draft, const Restricted& target, Index lookahead) {
    const auto distribution = testing::exact_distribution(rule, draft, target, lookahead);
    double largest = 0;
    for (const auto& [text, probability] : testing::joint_distribution(target, lookahead + 1)) {
        const auto found = distribution.find(text);
        largest = std::max(largest, std::abs(probability - (found == distribution.end() ? 0 : found->second)));
    }
    return largest;
}

/// Whole rows of a model along a text, as a model that depends on the depth alone.
class Recorded {
  public:
    static constexpr bool stable_rows = true;

    Recorded(LlamaModel& model, const std::vector<Token>& text, Index depths) : start_(std::ssize(text) - depths + 1) {
        for (const auto& row : model(text, depths)) {
            const Eigen::ArrayXd weights = (row.cast<double>() - static_cast<double>(row.maxCoeff())).exp();
            rows_.emplace_back(weights / weights.sum());
        }
    }

    const Eigen::VectorXd& operator()(std::span<const Token> prefix) const { return at(std::ssize(prefix) - start_); }
    const Eigen::VectorXd& at(Index depth) const { return rows_[static_cast<std::size_t>(depth)]; }
    Index start() const { return start_; }  ///< tokens before the first row

  private:
    Index start_;
    std::vector<Eigen::VectorXd> rows_;
};

/// The statistic of the first token of many rounds, each with a seed of its own, against the target's row.
template <class Rule>
ChiSquare first_tokens(const Rule& rule, const Recorded& draft, const Recorded& target, Index lookahead, int rounds) {
    Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(target.at(0).size());
    const std::vector<Token> text(static_cast<std::size_t>(target.start()), 0);
    Sampler sampler(std::ref(draft), std::ref(target), {.lookahead = lookahead, .check = Check::entries_read}, rule);
    for (int seed = 0; seed < rounds; ++seed)
        counts[sampler.step(text, {}, RoundRng(static_cast<std::uint64_t>(seed), 0, target.start())).tokens[0]] += 1;
    return chi_square(counts, target.at(0));
}

}  // namespace exact

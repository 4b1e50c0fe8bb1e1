// Targets that edit: one writes a given text, the other copies from its prefix at random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "compare_drafters/any_target.hpp"

/// A target that writes a given text with certainty.
struct RecordedTarget {
    std::vector<specsample::Token> text;
    specsample::Index vocab;

    AnyTarget::Rows operator()(std::span<const specsample::Token> prefix, specsample::Index n) const {
        AnyTarget::Rows rows;
        for (specsample::Index i = 0; i < n; ++i)
            rows.push_back(row(prefix.size() - static_cast<std::size_t>(n - 1 - i)));
        return rows;
    }
    AnyTarget::Rows operator()(std::span<const specsample::Token> prefix, const TokenTree& tree) const {
        AnyTarget::Rows rows{row(prefix.size())};
        for (specsample::Index node = 0; node < std::ssize(tree.tokens); ++node)
            rows.push_back(row(text_of(prefix, tree, node).size()));
        return rows;
    }

  private:
    Eigen::VectorXf row(std::size_t place) const {
        Eigen::VectorXf result = Eigen::VectorXf::Zero(vocab);
        result[text[std::min(place, text.size() - 1)]] = 1;
        return result;
    }
};

/// A model with a cache of the text: with probability `share` it writes what followed an earlier place of the text
/// where its state was similar. A model as small as the shipped one does not copy by itself; editors do.
///
/// Grave et al. 2017: "Improving neural language models with a continuous cache", arXiv:1612.04426, eq. 3 and 5.
class CopyingTarget {
  public:
    explicit CopyingTarget(LanguageModel model, double share = .8, double sharpness = 40)
        : model_(std::move(model)), share_(share), sharpness_(sharpness) {}

    AnyTarget::Rows operator()(std::span<const specsample::Token> prefix, specsample::Index n) {
        AnyTarget::Rows rows = model_(prefix, n);
        for (std::size_t i = 0; i < rows.size(); ++i)
            add_copies(rows[i], prefix.first(prefix.size() - rows.size() + 1 + i));
        return rows;
    }
    AnyTarget::Rows operator()(std::span<const specsample::Token> prefix, const TokenTree& tree) {
        AnyTarget::Rows rows = model_(prefix, tree);
        for (specsample::Index node = -1; node < std::ssize(tree.tokens); ++node)
            add_copies(rows[static_cast<std::size_t>(node + 1)], text_of(prefix, tree, node));
        return rows;
    }

  private:
    void add_copies(Eigen::VectorXf& row, std::span<const specsample::Token> text) {
        const auto places = static_cast<specsample::Index>(text.size()) - 1;  // places with a token after them
        if (places < 1) return;
        follow(text);
        const Eigen::VectorXf likeness = directions_.leftCols(places).transpose() * directions_.col(places);
        Eigen::ArrayXd weights = sharpness_ * likeness.array().cast<double>();
        weights = (weights - weights.maxCoeff()).exp();
        weights *= share_ / weights.sum();
        row *= static_cast<float>(1 - share_);
        for (specsample::Index i = 0; i < places; ++i)
            row[text[static_cast<std::size_t>(i + 1)]] += static_cast<float>(weights[i]);
    }

    /// Compute the states of a text from the first token on that differs from the last text.
    void follow(std::span<const specsample::Token> text) {
        const auto size = static_cast<specsample::Index>(text.size());
        if (directions_.cols() < size) directions_.conservativeResize(model_.engine()->weights()->config.dim, 2 * size);
        const auto known = std::ranges::mismatch(text_, text).in1 - text_.begin();
        for (specsample::Index i = known; i < size; ++i)
            directions_.col(i) =
                model_.engine()->state(text.first(static_cast<std::size_t>(i + 1))).matrix().normalized();
        text_.assign(text.begin(), text.end());
    }

    LanguageModel model_;
    double share_;
    double sharpness_;
    std::vector<specsample::Token> text_;
    Eigen::MatrixXf directions_;  // of the states after the tokens of text_
};

// Draws a chain, and a second token beside each of which the model is not sure.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters.hpp>

#include "generate/any_drafter.hpp"
#include "generate/learnt_costs.hpp"

/// A drafter for temperatures above 0. The first token behind a node is drawn from the model's row, and what follows it
/// is drafted, too. Where that token may well be rejected a second one is drawn without replacement: it costs a
/// position of the target's pass, but no row of the model. Both decisions, and where the draft ends, depend on the rows
/// of the path alone and not on the tokens drawn from the last of them, so the tree is lossless under every rule for
/// drawn children.
class DrawnTree {
  public:
    using Distribution = AnyDrafter::Distribution;
    using Prepare = std::function<void(std::span<const specsample::Token>)>;

    /// @param likelihood   about how often the most likely tokens of all rows since `prepare` are right
    /// @param rows         set to the rows that the model was asked for in a round
    /// @param prepare      called with the text before the first row of a round
    DrawnTree(DraftModel model, std::function<double()> likelihood, std::shared_ptr<const LearntCosts> costs,
              std::shared_ptr<specsample::Index> rows, Prepare prepare)
        : model_(std::move(model)),
          likelihood_(std::move(likelihood)),
          costs_(std::move(costs)),
          count_(std::move(rows)),
          prepare_(std::move(prepare)) {}

    template <class Source, class L>
    void propose(std::span<const specsample::Token> prefix, const Source& rng, specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        prepare_(prefix);
        text_.assign(prefix.begin(), prefix.end());
        const auto most = static_cast<std::size_t>(draft_tree.depth_limit());
        rows_.resize(std::max(rows_.size(), most));
        ids_.resize(std::max(ids_.size(), most));
        *count_ = 0;
        Index node = root_node;
        for (std::size_t depth = 0; draft_tree.grows(node); ++depth) {
            const double before = *count_ == 0 ? 1 : likelihood_();
            rows_[depth] = model_(text_);
            ++*count_;
            const bool is_sure = !second_pays(before - likelihood_(), draft_tree.size() + 1);
            const Index first = draft_tree.size();
            add_children(rows_[depth], std::span(ids_[depth]).first(is_sure ? 1 : 2), node, rng, draft_tree);
            if (draft_tree.size() == first) return;
            if (likelihood_() < costs_->worthwhile()) return;
            node = first;
            text_.push_back(draft_tree.token(node));
        }
    }

  private:
    /// How often a second token helps where the first is wrong. With .35 rounds brought as many tokens and cost more.
    static constexpr double second_chance = .2;

    bool second_pays(double first_is_wrong, specsample::Index size) const {
        const double position = costs_->pass(size + 2) - costs_->pass(size + 1);
        return first_is_wrong * second_chance > LearntCosts::tokens_per_pass * position;
    }

    template <class Source, class L>
    static void add_children(const Eigen::VectorXf& row, std::span<specsample::Token> ids, specsample::Index node,
                             const Source& rng, specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        const Index first = draft_tree.size();
        if constexpr (std::same_as<L, SharedNoise>) {
            const Index found = race(rng.at(Purpose::race, draft_tree.depth(node)), row, ids);
            for (Index i = 0; i < found; ++i) draft_tree.add(node, ids[static_cast<std::size_t>(i)], SharedNoise{});
        } else {
            const Sampled whole(row);
            children::WithoutReplacement{}(
                whole.row(), ids, [&](std::size_t i) { return rng.at(Purpose::draft, first + static_cast<Index>(i)); },
                [&](auto token, const auto& distribution) {
                    draft_tree.add(node, static_cast<Token>(token), distribution);
                });
        }
        if (draft_tree.size() == first) draft_tree.decline(row);
    }

    DraftModel model_;
    std::function<double()> likelihood_;
    std::shared_ptr<const LearntCosts> costs_;
    std::shared_ptr<specsample::Index> count_;
    Prepare prepare_;
    std::vector<Eigen::VectorXf> rows_{};  // a depth each: distributions point at them and at the ids
    std::vector<std::array<specsample::Token, 2>> ids_{};
    std::vector<specsample::Token> text_{};
};

// Drafts a tree of the most probable continuations, as large as pays.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters.hpp>

#include "generate/any_drafter.hpp"
#include "generate/payoff.hpp"

/// Adds the node with the most probable path of all that are known, asks the model what follows it if that pays, and
/// goes on until the next node does not pay. So a model that is sure drafts a chain, and one that wavers between two
/// tokens drafts both. The tree has at most as many nodes as it may have levels.
///
/// The tokens are chosen and not drawn, so they are point masses, which is best at temperature 0: what counts there is
/// whether the right token is in the tree.
class BestFirstTree {
  public:
    using Distribution = specsample::PointMass;

    BestFirstTree(DraftModel model, std::shared_ptr<Payoff> payoff)
        : model_(std::move(model)), payoff_(std::move(payoff)) {}

    template <class Source, class L>
        requires std::convertible_to<Distribution, L>
    void propose(std::span<const specsample::Token> prefix, const Source&, specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        found_.clear();
        if (draft_tree.grows(root_node)) ask(prefix, {1, root_node, 0}, root_node, draft_tree);
        while (!found_.empty() && draft_tree.size() < draft_tree.depth_limit()) {
            std::ranges::pop_heap(found_, {}, &Found::probability);
            const Found next = found_.back();
            found_.pop_back();
            if (draft_tree.size() > 0 && !payoff_->token_pays(next.probability, draft_tree.size())) return;
            const Index node = draft_tree.add(next.parent, next.token, PointMass{});
            payoff_->count_token(next.probability);
            if (draft_tree.grows(node) && payoff_->row_pays(next.probability, draft_tree.size()))
                ask(prefix, next, node, draft_tree);
        }
    }

  private:
    static constexpr std::size_t alternatives = 4;  ///< tokens of a row that can become nodes

    /// A token behind a node of the tree.
    struct Found {
        double probability;  ///< of its whole path
        specsample::Index parent;
        specsample::Token token;
    };

    /// Finds the most probable tokens behind a node.
    template <class L>
    void ask(std::span<const specsample::Token> prefix, const Found& of, specsample::Index node,
             specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        text_.assign(prefix.begin(), prefix.end());
        if (node != root_node) draft_tree.append_path(node, text_);
        const Eigen::VectorXf row = model_(text_);
        std::array<Token, alternatives> ids;
        const auto count = static_cast<std::size_t>(kernels::top_ids(row, ids));
        if (const auto bad = kernels::inspect(row, Side::draft, draft_tree.size())) return draft_tree.blame(*bad);
        payoff_->count_row(static_cast<double>(row[ids[0]]));
        for (const Token token : std::span(ids).first(count)) {
            found_.push_back({of.probability * static_cast<double>(row[token]), node, token});
            std::ranges::push_heap(found_, {}, &Found::probability);
        }
    }

    DraftModel model_;
    std::shared_ptr<Payoff> payoff_;
    std::vector<Found> found_{};  // a heap
    std::vector<specsample::Token> text_{};
};

// Drafts a tree of the most probable continuations, as large as pays.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters.hpp>

#include "generate/beliefs.hpp"
#include "generate/lookup_offer.hpp"
#include "generate/payoff.hpp"

/// Adds the node with the most probable path of all that are known, asks the model what follows it if that pays, and
/// goes on until the next node does not pay. So a model that is sure drafts a chain, and one that wavers between two
/// tokens drafts both. What lookup offers is known without the model, which is then asked only where the offer may well
/// be wrong. The tree has at most as many nodes as it may have levels.
///
/// The tokens are chosen and not drawn, so they are point masses, which is best at temperature 0: what counts there is
/// whether the right token is in the tree.
class BestFirstTree {
  public:
    using Distribution = specsample::PointMass;
    using Prepare = std::function<void(std::span<const specsample::Token>)>;

    /// @param prepare   called with the text before the model's first row of a round
    /// @param offer     what lookup offers; null: nothing
    BestFirstTree(
        BeliefModel model, std::shared_ptr<Payoff> payoff, Prepare prepare = [](auto) {},
        std::shared_ptr<const LookupOffer> offer = nullptr)
        : model_(std::move(model)),
          payoff_(std::move(payoff)),
          prepare_(std::move(prepare)),
          offer_(std::move(offer)) {}

    template <class Source, class L>
        requires std::convertible_to<Distribution, L>
    void propose(std::span<const specsample::Token> prefix, const Source&, specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        found_.clear();
        if (draft_tree.grows(root_node)) look_behind({1, root_node, 0, 0}, root_node, prefix, draft_tree);
        while (!found_.empty() && draft_tree.size() < draft_tree.depth_limit()) {
            std::ranges::pop_heap(found_, {}, &Found::probability);
            const Found next = found_.back();
            found_.pop_back();
            const bool is_paid = draft_tree.size() == 0 && payoff_->rows() > 0;  // the model was asked for one token
            if (!is_paid && !payoff_->token_pays(next.probability, draft_tree.size())) return;
            const Index node = draft_tree.add(next.parent, next.token, PointMass{});
            payoff_->count_token(next.probability);
            if (draft_tree.grows(node)) look_behind(next, node, prefix, draft_tree);
        }
    }

  private:
    static constexpr std::size_t alternatives = 4;  ///< tokens of a row that can become nodes
    static constexpr specsample::Index none = -1;

    /// A token behind a node of the tree.
    struct Found {
        double probability;  ///< of its whole path
        specsample::Index parent;
        specsample::Token token;
        specsample::Index next;  ///< the place in the offer of what follows it; none if its path is not the offer's
    };

    /// Finds the tokens behind a node: the one that is offered, and the model's if it pays to ask for them.
    template <class L>
    void look_behind(const Found& of, specsample::Index node, std::span<const specsample::Token> prefix,
                     specsample::DraftTree<L>& draft_tree) {
        const auto offered = offer_ ? offer_->tokens() : std::span<const specsample::Token>();
        const bool has_offer = of.next != none && of.next < std::ssize(offered);
        const double right = has_offer ? offer_->probability(of.next) : 0;
        const bool must_ask = node == specsample::root_node && !has_offer;
        if (must_ask || payoff_->row_pays(of.probability * (1 - right), draft_tree.size())) {
            ask(of, node, has_offer ? offered[static_cast<std::size_t>(of.next)] : none, right, prefix, draft_tree);
        } else if (has_offer) {
            push({of.probability * right, node, offered[static_cast<std::size_t>(of.next)], of.next + 1});
        }
    }

    /// Finds the most probable tokens behind a node by the model, with one that is offered and right with probability
    /// `right`. Model and offer count as independent witnesses: the odds of the offered token are their odds' product.
    template <class L>
    void ask(const Found& of, specsample::Index node, specsample::Index offered, double right,
             std::span<const specsample::Token> prefix, specsample::DraftTree<L>& draft_tree) {
        using namespace specsample;
        if (payoff_->rows() == 0) prepare_(prefix);
        text_.assign(prefix.begin(), prefix.end());
        if (node != root_node) draft_tree.append_path(node, text_);
        const Beliefs beliefs = model_(text_);
        const Eigen::VectorXf& row = beliefs.probabilities;
        std::array<Token, alternatives> places;
        const auto count = static_cast<std::size_t>(kernels::top_ids(row, places));
        if (auto bad = kernels::inspect(row, Side::draft, draft_tree.size())) {
            bad->id = beliefs.id(bad->id);
            return draft_tree.blame(*bad);
        }
        payoff_->count_row(static_cast<double>(row[places[0]]));
        double others = 1;  // how much more or less probable they are than by the model alone
        if (offered != none) {
            const double of_model = std::clamp(static_cast<double>(beliefs.of(offered)), .02, .98);
            const double both = right * of_model / (right * of_model + (1 - right) * (1 - of_model));
            others = (1 - both) / (1 - of_model);
            push({of.probability * both, node, static_cast<Token>(offered), of.next + 1});
        }
        for (const Token place : std::span(places).first(count)) {
            const auto token = static_cast<Token>(beliefs.id(place));
            if (token != offered) push({of.probability * others * static_cast<double>(row[place]), node, token, none});
        }
    }

    void push(const Found& found) {
        found_.push_back(found);
        std::ranges::push_heap(found_, {}, &Found::probability);
    }

    BeliefModel model_;
    std::shared_ptr<Payoff> payoff_;
    Prepare prepare_;
    std::shared_ptr<const LookupOffer> offer_;
    std::vector<Found> found_{};  // a heap
    std::vector<specsample::Token> text_{};
};

// A model as a drafter: one token after the other.
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/draft/drafter.hpp>
#include <specsample/draft/host.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/logits.hpp>
#include <specsample/random/draw.hpp>

namespace specsample {
namespace detail {

/// Draw a token of a row that is to be node `node` of a proposal, and add it with the very row it was drawn from.
template <class R, class Source, class L>
Index draw_child(const R& row, Index parent, const Source& coins, Proposal<L>& proposal) {
    const Index node = proposal.size();
    const auto weights = row_weights(row);
    if constexpr (std::same_as<L, Raced>) {
        const Index token = race(coins.at(Purpose::race, proposal.depth(parent)), weights);
        if (token >= 0) return proposal.add(parent, token, Raced{});
    } else {
        const Index token = draw(coins.at(Purpose::draft, node), weights).index;
        if (token >= 0) return proposal.add(parent, token, Sampled(probs_of(row, weights)));
    }
    if (const auto bad = inspect(row, Party::draft, node)) proposal.blame(*bad);
    return parent;
}

}  // namespace detail

/// Drafts as deep as it may from a model, each token drawn from the model's row, or named by the model.
///
/// Coins: one draft coin per token drawn. Cost: one call of the model per token, one pass per token drawn; rows that
/// come as views are copied, unless the model has stable rows.
template <class Model>
class ChainDraft {
    using Slots = typename detail::SlotsOf<Model>::type;

    template <class M>
    struct Proposes {
        using type = PointMass;
    };
    template <RowModel M>
    struct Proposes<M> {
        using type = Sampled<decltype(std::declval<const Slots&>().view(0))>;
    };

  public:
    using Law = typename Proposes<Model>::type;

    explicit ChainDraft(Model model) : model_(std::move(model)) {}

    template <class Source, class L>
        requires std::same_as<L, Law> || (std::same_as<L, Raced> && RowModel<Model>)
    void propose(std::span<const Token> prefix, const Source& coins, Proposal<L>& proposal) {
        detail::follow(context_, prefix, 0, proposal.depth_limit());
        Index known = 0;
        for (Index node = root_node; proposal.grows(node); known = std::ssize(context_)) {
            if (node != root_node) context_.push_back(proposal.token(node));
            if constexpr (TokenModel<Model>) {
                node = proposal.add(node, model_.ask_about(context_, known), PointMass{});
            } else {
                rows_.put(proposal.size(), model_.ask_about(context_, known));
                node = detail::draw_child(rows_.row(proposal.size()), node, coins, proposal);
            }
        }
    }

  private:
    detail::Host<Model> model_;
    Slots rows_;
    std::vector<Token> context_;
};

}  // namespace specsample

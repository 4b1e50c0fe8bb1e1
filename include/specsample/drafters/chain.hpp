// A model as a drafter: one token after the other.
//
//   ChainDrafter(model)         as deep as it may
//   ChainDrafter(model, stop)   until the stop says so
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/draft_token.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/host.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>

namespace specsample {
namespace detail {

/// Draw a token of a row that is to be node `node` of a draft tree, and add it with the very row it was drawn from.
template <class R, class Source, class L>
Index draw_child(const R& row, Index parent, const Source& rng, DraftTree<L>& draft_tree) {
    const Index node = draft_tree.size();
    if constexpr (std::same_as<L, SharedNoise>) {
        const Index token = race(rng.at(Purpose::race, draft_tree.depth(parent)), row);
        if (token >= 0) return draft_tree.add(parent, token, SharedNoise{});
    } else {
        const auto [token, distribution] = draft_token(rng.at(Purpose::draft, node), row);
        if (token >= 0) return draft_tree.add(parent, token, distribution);
    }
    if (const auto bad = kernels::inspect(row, Side::draft, node)) draft_tree.blame(*bad);
    return parent;
}

}  // namespace detail

/// What ends a chain before its depth limit. stop.before(row) says that nothing is to be drawn from a row;
/// stop.after(prob) that nothing is to follow a token, which had this probability, and which stays. Both are lossless:
/// the one looks at the text alone, the other drops nothing. Dropping a token because it is unlikely is not (total
/// variation 3/20 on three tokens), and no stop can ask for it.
template <class S>
concept DraftStop = requires(const S& stop, const Eigen::ArrayXf& row, double prob) {
    { stop.before(row) } -> std::convertible_to<bool>;
    { stop.after(prob) } -> std::convertible_to<bool>;
};

namespace detail {

/// Only the depth limit ends a chain.
struct NeverStop {
    static constexpr bool before(const auto&) { return false; }
    static constexpr bool after(double) { return false; }
};
}  // namespace detail

/// Drafts as deep as it may from a model, each token drawn from the model's row, or named by the model.
///
/// @draws one draft draw per token drawn. Cost: one call of the model per token, one pass per token drawn, and what the
/// stop looks at; rows that come as views are copied, unless the model has stable rows.
template <class Model, DraftStop Ending = detail::NeverStop>
class ChainDrafter {
    static constexpr bool can_stop = !std::same_as<Ending, detail::NeverStop>;
    static_assert(
        !can_stop || !TokenModel<Model>,
        "specsample::ChainDrafter: a stop looks at probabilities, but draft(prefix) returns a token; return a "
        "row, or leave the stop out");
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
    using Distribution = typename Proposes<Model>::type;
    static constexpr bool branches = false;
    static constexpr bool cut_is_prefix = true;

    explicit ChainDrafter(Model model, Ending stop = {}) : model_(std::move(model)), stop_(std::move(stop)) {}

    template <class Source, class L>
        requires std::convertible_to<Distribution, L> || (std::same_as<L, SharedNoise> && RowModel<Model>)
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        detail::follow(context_, prefix, 0, draft_tree.depth_limit());
        Index known = 0;
        for (Index node = root_node; draft_tree.grows(node); known = std::ssize(context_)) {
            if (node != root_node) context_.push_back(draft_tree.token(node));
            if constexpr (TokenModel<Model>) {
                node = draft_tree.add(node, model_.ask_about(context_, known), PointMass{});
            } else {
                const Index parent = node;
                rows_.put(draft_tree.size(), model_.ask_about(context_, known));
                if (stops_before(draft_tree.size())) return;
                node = detail::draw_child(rows_.row(draft_tree.size()), parent, rng, draft_tree);
                if (node != parent && stops_after(node, draft_tree.token(node))) return;
            }
        }
    }

  private:
    bool stops_before(Index slot) const {
        if constexpr (can_stop) return stop_.before(rows_.view(slot));
        return false;
    }
    bool stops_after(Index slot, Token token) const {
        if constexpr (can_stop) return stop_.after(static_cast<double>(rows_.view(slot).coeff(token)));
        return false;
    }

    detail::Host<Model> model_;
    Ending stop_;
    Slots rows_;
    std::vector<Token> context_;
};

template <class Model>
ChainDrafter(Model) -> ChainDrafter<Model, detail::NeverStop>;
template <class Model, class Ending>
ChainDrafter(Model, Ending) -> ChainDrafter<Model, Ending>;

}  // namespace specsample

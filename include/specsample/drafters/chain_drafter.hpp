// The loop of drafters/chain.hpp. It does without Eigen: the draws are in headers of their own, for rows that are types
// (drafters/chain.hpp) and for rows that are values (drafters/value_drafts.hpp).
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/drafter.hpp>
#include <specsample/models/host.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Draw a token from a row, and add it to a draft tree with that row as its distribution.
/// @returns   the new node; DraftTree::declined if no token can be drawn
/// @draws     one: the draft draw of the new node, or with SharedNoise the race at the parent's depth
template <RowLike R, class Source, class L>
Index draw_child(const R& row, Index parent, const Source& rng, DraftTree<L>& draft_tree);  // drafters/chain.hpp
template <class Source, class L>
Index draw_child(const Row& row, Index parent, const Source& rng, DraftTree<L>& draft_tree);  // value_drafts.hpp

/// The stop of a chain that ends at its depth limit only.
struct NeverStop {
    static constexpr bool before(const auto&) { return false; }
    static constexpr bool after(double) { return false; }
};

/// Tell a stop that a draft begins, if it has `begin`: one that looks at all rows of a draft together.
template <class Stop>
void begin_draft(const Stop& stop) {
    if constexpr (requires { stop.begin(); }) stop.begin();
}

}  // namespace detail

/// Drafts a chain up to the depth limit, each token drawn from the model's row, or returned by the model itself.
///
/// @tparam Model    a RowModel; or a TokenModel, whose tokens are point masses
/// @tparam Ending   a DraftStop, for a RowModel only
/// @draws           one draft draw per token drawn, in order; under a rule that shares the target's noise, one race
///                  instead
/// @cost            one call of the model per token, one pass per token drawn, and the cost of the stop. Rows returned
///                  as views are copied, unless the model has stable rows or the rule shares the target's noise
/// @edge            the chain ends at a row that makes no token possible, such as an empty row, and at a token below 0
///                  or outside the vocabulary that a TokenModel returns
template <class Model, DraftStop Ending = detail::NeverStop>
class ChainDrafter {
    static constexpr bool can_stop = !std::same_as<Ending, detail::NeverStop>;
    static_assert(
        !can_stop || !TokenModel<Model>,
        "specsample::ChainDrafter: a stop looks at probabilities, but draft(prefix) returns a token; return a "
        "row, or leave the stop out");
    using Slots = detail::RowSlots<Model>;

    template <class M>
    struct Proposes {
        using type = PointMass;
    };
    template <RowModel M>
    struct Proposes<M> {
        using type = typename detail::Over<decltype(std::declval<const Slots&>().view(0))>::Distribution;
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
        if constexpr (can_stop) detail::begin_draft(stop());
        if constexpr (keeps_rows<L>) rows_.open(draft_tree.size() + draft_tree.depth_limit());
        Index known = 0;
        for (Index node = root_node; draft_tree.grows(node); known = std::ssize(context_)) {
            if (node != root_node) context_.push_back(draft_tree.token(node));
            if constexpr (TokenModel<Model>) {
                node = draft_tree.add(node, model_.ask_about(context_, known), PointMass{});
            } else if constexpr (keeps_rows<L>) {
                const Index slot = draft_tree.size();
                rows_.put(slot, model_.ask_about(context_, known));
                node = draw(rows_.row(slot), node, rng, draft_tree);
            } else {
                node = draw(rows_.show(model_.ask_about(context_, known)), node, rng, draft_tree);
            }
        }
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  private:
    const detail::Unwrapped<Ending>& stop() const { return stop_; }

    /// Whether rows are kept for the rule. A token that is drawn with the target's noise is judged without its row.
    template <class L>
    static constexpr bool keeps_rows = RowModel<Model> && !std::same_as<L, SharedNoise>;

    /// Draw the next token of the chain from a row.
    /// @returns   its node; DraftTree::declined where the chain ends
    template <class R, class Source, class L>
    Index draw(const R& row, Index parent, const Source& rng, DraftTree<L>& draft_tree) const {
        if constexpr (can_stop) {
            return detail::with_row(row, [&](const auto& given) {
                const auto probs = detail::as_row(given);
                if (probs.size() > 0 && stop().before(probs)) return DraftTree<L>::declined;
                const Index node = detail::draw_child(row, parent, rng, draft_tree);
                const bool ends =
                    draft_tree.grows(node) && stop().after(static_cast<double>(probs.coeff(draft_tree.token(node))));
                return ends ? DraftTree<L>::declined : node;
            });
        } else {
            return detail::draw_child(row, parent, rng, draft_tree);
        }
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

}}  // namespace specsample

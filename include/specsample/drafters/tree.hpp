// A model as a drafter of trees of a fixed shape.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/children.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/models/host.hpp>
#include <specsample/tree/tree_shape.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

/// Drafts a tree of a given shape from a model's rows: child i of a node is the i-th that Children gives, the i-th most
/// probable or the i-th drawn.
///
///     Sampler sampler(TreeDrafter(draft, {2, 2}), target, options, TraversalVerification{});
///     Sampler sampler(TreeDrafter(draft, sparse_tree(acceptance, 16)), target, options, RecursiveRejection{});
///
/// Under a rule that shares the target's noise, the children are the first to arrive in the target's race
/// (SharedNoise), and Children is not used.
///
/// @tparam Model      a RowModel
/// @tparam Children   a policy of namespace children
/// @draws             those of Children
/// @cost              one call of the model per node that has children, depth first
template <RowModel Model, class Children = children::WithoutReplacement>
class TreeDrafter {
    using Slots = detail::RowSlots<Model>;

  public:
    using Distribution = Mixed<decltype(std::declval<const Slots&>().view(0))>;

    /// @throws   std::invalid_argument unless the children of each node have ranks 0, 1, ..: no drawn child may be left
    ///           out
    template <std::same_as<TreeShape> S>  // an explicit TreeShape only: {} and {2, 2} are branchings
    TreeDrafter(Model model, S shape, Children children = {})
        : model_(std::move(model)), shape_(std::move(shape)), children_(std::move(children)) {
        for (Index node = root_node; node < shape_.size(); ++node) {
            const Index count = shape_.child_count(node);
            detail::require(shape_.candidates(node) == count, "TreeDrafter", "the largest rank after a node",
                            shape_.candidates(node) - 1, "the number of its children less 1");
        }
        ids_.resize(static_cast<std::size_t>(shape_.size()));
    }

    /// A tree with `branching[d]` children at every node of depth d.
    /// @throws   std::invalid_argument if a branching is less than 1
    TreeDrafter(Model model, std::vector<Index> branching, Children children = {})
        : TreeDrafter(std::move(model), expansion_tree(checked(branching)), std::move(children)) {}

    Index depth() const { return shape_.depth(); }

    template <class Source, class L>
        requires std::convertible_to<Distribution, L> || std::same_as<L, SharedNoise>
    void propose(std::span<const Token> prefix, const Source& rng, DraftTree<L>& draft_tree) {
        detail::follow(context_, prefix, 0, draft_tree.depth_limit());
        rows_.open(shape_.size() + 1);
        expanded_ = 0;
        ids_used_ = 0;
        expand(root_node, root_node, rng, draft_tree);
    }

    /// Call visit on the models that are held here: see SharedModels.
    template <class Visit>
    void each_model(const Visit& visit) {
        visit(model_);
    }

  private:
    static const std::vector<Index>& checked(const std::vector<Index>& branching) {
        for (const Index count : branching)
            detail::require(count >= 1, "TreeDrafter", "a branching", count, "at least 1");
        return branching;
    }

    /// Add the subtree below `node`, whose path is in the context, as the shape has it below `place`.
    template <class Source, class L>
    void expand(Index node, Index place, const Source& rng, DraftTree<L>& draft_tree) {
        const auto count = static_cast<std::size_t>(shape_.child_count(place));
        if (count == 0 || !draft_tree.grows(node)) return;
        const Index first = draft_tree.size();
        rows_.put(expanded_, model_.ask_about(context_, 0));
        add_children(rows_.row(expanded_++), node, std::span(ids_).subspan(ids_used_, count), rng, draft_tree);
        ids_used_ += count;
        const Index end = draft_tree.size();
        for (Index child = first; child < end; ++child) {
            context_.push_back(draft_tree.token(child));
            expand(child, shape_.first_child(place) + (child - first), rng, draft_tree);
            context_.pop_back();
        }
    }

    template <class R, class Source, class L>
    void add_children(const R& row, Index node, std::span<Token> ids, const Source& rng, DraftTree<L>& draft_tree) {
        const Index first = draft_tree.size();
        if constexpr (std::same_as<L, SharedNoise>) {
            const auto random = rng.at(Purpose::race, draft_tree.depth(node));
            const Index found = race(random, row, ids);
            for (Index i = 0; i < found; ++i) draft_tree.add(node, ids[static_cast<std::size_t>(i)], SharedNoise{});
        } else {
            children_(
                detail::as_row(row), ids,
                [&](std::size_t i) { return rng.at(Purpose::draft, first + static_cast<Index>(i)); },
                [&](auto token, const auto& distribution) { draft_tree.add(node, token, distribution); });
        }
        if (draft_tree.size() > first) return;
        if (const auto bad = kernels::inspect(row, Side::draft, first)) draft_tree.blame(*bad);
    }

    detail::Host<Model> model_;
    TreeShape shape_;
    Children children_;

    // Reused from round to round.
    Slots rows_;
    std::vector<Token> ids_;  ///< ids of the children of every node: distributions point here
    std::vector<Token> context_;
    Index expanded_ = 0;
    std::size_t ids_used_ = 0;
};

template <class Model, std::same_as<TreeShape> S>
TreeDrafter(Model, S) -> TreeDrafter<Model, children::WithoutReplacement>;
template <class Model, std::same_as<TreeShape> S, class Children>
TreeDrafter(Model, S, Children) -> TreeDrafter<Model, Children>;
template <class Model>
TreeDrafter(Model, std::vector<Index>) -> TreeDrafter<Model, children::WithoutReplacement>;
template <class Model, class Children>
TreeDrafter(Model, std::vector<Index>, Children) -> TreeDrafter<Model, Children>;

}  // inline namespace
}  // namespace specsample

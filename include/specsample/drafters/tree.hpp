// A model as a drafter of trees of a fixed shape.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <specsample/drafters/children.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/models/host.hpp>
#include <specsample/tree/tree_shape.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Add the children that a policy takes from a row.
template <class Children, RowLike R, class RngOf, class Add>
void take_children(const Children& children, const R& row, std::span<Token> ids, const RngOf& rng, const Add& add) {
    children(row, ids, rng, add);
}
template <class Children, class RngOf, class Add>
void take_children(const Children& children, const Row& row, std::span<Token> ids, const RngOf& rng,
                   const Add& add);  // drafters/draft_row.hpp

}  // namespace detail

/// Drafts a tree of a given shape from a model's rows: child i of a node is the i-th token that Children gives: the
/// i-th most probable or the i-th drawn.
///
///     Sampler sampler(TreeDrafter(draft, {2, 2}), target, options, TraversalVerification{});
///     Sampler sampler(TreeDrafter(draft, sparse_tree(acceptance, 16)), target, options, RecursiveRejection{});
///
/// Under a rule that shares the target's noise, the children are the first to arrive in the target's race
/// (SharedNoise), and Children is not used.
///
/// @tparam Model      a RowModel, or a TreeModel
/// @tparam Children   a policy of namespace children
/// @draws             the draws of Children, at the number that the child has in a tree of the whole shape. Under a
///                    rule that shares the target's noise, one race per node that has children
/// @cost              one call of a TreeModel per level, with the tree so far; one call of any other model per node
///                    that has children, depth first. Both draft the same tree
/// @edge              a branch ends where the model makes no token possible
template <detail::SearchedModel Model, class Children = children::WithoutReplacement>
class TreeDrafter {
    using Slots = detail::SlotsOf<Model, typename detail::SearchedRow<Model>::type>;

  public:
    using Distribution = typename detail::Over<decltype(std::declval<const Slots&>().view(0))>::Mixture;

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
        numbers_.resize(ids_.size());
        number_below(root_node, 0);
    }

    /// Make a drafter of trees with `branching[d]` children at every node of depth d.
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
        first_ = draft_tree.size();
        if constexpr (TreeModel<Model>) {
            expand_by_level(rng, draft_tree);
        } else {
            expand(root_node, root_node, rng, draft_tree);
        }
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  private:
    static const std::vector<Index>& checked(const std::vector<Index>& branching) {
        for (const Index count : branching)
            detail::require(count >= 1, "TreeDrafter", "a branching", count, "at least 1");
        return branching;
    }

    /// Number the nodes of the shape in the order of a draft tree: the children of a node, then the nodes below each
    /// child.
    /// @returns   the next number
    Index number_below(Index place, Index next) {
        const Index first = shape_.first_child(place), count = shape_.child_count(place);
        for (Index child = first; child < first + count; ++child) numbers_[static_cast<std::size_t>(child)] = next++;
        for (Index child = first; child < first + count; ++child) next = number_below(child, next);
        return next;
    }

    /// Add below `node` the subtree that the shape has below `place`. The context ends with the path to `node`.
    template <class Source, class L>
    void expand(Index node, Index place, const Source& rng, DraftTree<L>& draft_tree) {
        if (shape_.child_count(place) == 0 || !draft_tree.grows(node)) return;
        const Index first = draft_tree.size();
        if constexpr (std::same_as<L, SharedNoise>) {
            add_children<true>(rows_.show(model_.ask_about(context_, 0)), node, place, rng, draft_tree);
        } else {
            rows_.put(expanded_, model_.ask_about(context_, 0));
            add_children<false>(rows_.row(expanded_++), node, place, rng, draft_tree);
        }
        const Index end = draft_tree.size();
        for (Index child = first; child < end; ++child) {
            context_.push_back(draft_tree.token(child));
            expand(child, shape_.first_child(place) + (child - first), rng, draft_tree);
            context_.pop_back();
        }
    }

    /// Grow the whole tree level by level, then add its nodes in the order of `expand`.
    template <class Source, class L>
    void expand_by_level(const Source& rng, DraftTree<L>& draft_tree) {
        grown_.open(draft_tree.depth_limit(), draft_tree.stop_tokens(), draft_tree.vocab(), draft_tree.until());
        places_.clear();
        const auto place = [&](Index node) { return node == root_node ? root_node : places_[std::size_t(node)]; };
        for (Index begin = root_node, end = 0; begin < end; begin = std::exchange(end, grown_.size())) {
            level_.clear();
            for (Index node = begin; node < end; ++node)
                if (shape_.child_count(place(node)) > 0 && grown_.grows(node)) level_.push_back(node);
            if (level_.empty()) break;
            const Index first = expanded_;
            auto&& rows = model_.ask_about(context_, 0, grown_.view());
            detail::require_rows("TreeDrafter", rows, grown_.size() + 1);
            for (const Index node : level_) rows_.put(expanded_++, detail::element(rows, node + 1));
            for (std::size_t i = 0; i < level_.size(); ++i) {
                const Index above = place(level_[i]), known = grown_.size();
                add_children<std::same_as<L, SharedNoise>>(rows_.row(first + Index(i)), level_[i], above, rng, grown_);
                for (Index child = known; child < grown_.size(); ++child)
                    places_.push_back(shape_.first_child(above) + (child - known));
            }
        }
        if (grown_.fault()) draft_tree.blame(*grown_.fault());
        add_below(root_node, root_node, draft_tree);
    }

    /// Add below `node` all nodes that were grown below `grown`.
    template <class L>
    void add_below(Index grown, Index node, DraftTree<L>& draft_tree) {
        const auto& links = grown_.links();
        Index next = draft_tree.size();
        for (Index child = links.first_child(grown); child != no_node; child = links.next_sibling(child)) {
            if constexpr (std::same_as<L, SharedNoise>) {
                draft_tree.add(node, grown_.token(child), SharedNoise{});
            } else {
                draft_tree.add(node, grown_.token(child), grown_.distributions()[static_cast<std::size_t>(child)]);
            }
            draft_tree.take_ending(draft_tree.size() - 1, grown_, child);
        }
        for (Index child = links.first_child(grown); child != no_node; child = links.next_sibling(child))
            add_below(child, next++, draft_tree);
    }

    /// Add the children of a node that a row gives.
    template <bool shares_noise, class R, class Source, class L>
    void add_children(const R& row, Index node, Index place, const Source& rng, DraftTree<L>& draft_tree) {
        const Index first = draft_tree.size();
        const auto count = static_cast<std::size_t>(shape_.child_count(place));
        const std::span<Token> ids = std::span(ids_).subspan(std::exchange(ids_used_, ids_used_ + count), count);
        if constexpr (shares_noise) {
            const auto random = rng.at(Purpose::race, draft_tree.depth(node));
            const Index found = race(random, row, ids);
            for (Index i = 0; i < found; ++i) draft_tree.add(node, ids[static_cast<std::size_t>(i)], PointMass{});
        } else {
            const Index number = first_ + numbers_[static_cast<std::size_t>(shape_.first_child(place))];
            const auto random = [&](std::size_t i) { return rng.at(Purpose::draft, number + static_cast<Index>(i)); };
            const auto add = [&](auto token, const auto& distribution) { draft_tree.add(node, token, distribution); };
            detail::take_children(children_, row, ids, random, add);
        }
        if (draft_tree.size() == first) draft_tree.decline(row);
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
    Index first_ = 0;                ///< the number of nodes that other drafters added before
    std::vector<Index> numbers_;     ///< by node of the shape: its number in a draft tree that has the whole shape
    DraftTree<Distribution> grown_;  ///< the tree of a model that is asked level by level
    std::vector<Index> places_;      ///< by node of `grown_`: its node in the shape
    std::vector<Index> level_;       ///< nodes of `grown_` that get children next
};

template <class Model, std::same_as<TreeShape> S>
TreeDrafter(Model, S) -> TreeDrafter<Model, children::WithoutReplacement>;
template <class Model, std::same_as<TreeShape> S, class Children>
TreeDrafter(Model, S, Children) -> TreeDrafter<Model, Children>;
template <class Model>
TreeDrafter(Model, std::vector<Index>) -> TreeDrafter<Model, children::WithoutReplacement>;
template <class Model, class Children>
TreeDrafter(Model, std::vector<Index>, Children) -> TreeDrafter<Model, Children>;

}}  // namespace specsample

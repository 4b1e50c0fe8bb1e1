// Drafters of trees that follow a beam search of a model.
//
//   BeamDrafter          the final paths of the beam search, shared beginnings merged
//   DynamicTreeDrafter   the most probable nodes among all that the beam search scores, as many as pay
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/models/host.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A beam search of a model: level by level, it scores the most probable next tokens of the most probable paths.
template <SearchedModel Model>
class Beams {
  public:
    struct Node {
        Index parent;
        Token token;
        double prob;  ///< the model's probability of the path to this node
        Index depth;
        Index place;  ///< its node in the tree of followed paths; `unfollowed` if it has none
    };
    static constexpr Index unfollowed = -2;

    Beams(std::string_view where, Model model, Index width) : where_(where), model_(std::move(model)) {
        require_length(where, "width", width, 1);
        ids_.resize(static_cast<std::size_t>(width));
    }

    /// Score as many levels after a prefix as the draft tree may have: on each level, the `width` most probable next
    /// tokens of each of the `width` most probable paths. Ties go to the path found first. A token that ends the text
    /// gets no successors; ids outside the target's vocabulary are left out.
    /// @returns   false if a row was bad; the draft tree then records the fault
    template <class L>
    bool search(std::span<const Token> prefix, DraftTree<L>& draft_tree) {
        const Index depth = draft_tree.depth_limit();
        followed_.open(depth, draft_tree.stop_tokens(), draft_tree.vocab(), draft_tree.until());
        nodes_.clear();
        ends_.clear();
        beams_.assign(1, root_node);
        for (Index level = 1; level <= depth && !beams_.empty(); ++level) {
            const auto first = std::ssize(nodes_);
            if (const auto bad = expand(prefix, level)) return draft_tree.blame(*bad), false;
            keep_likeliest(first);
            for (const Index beam : beams_) {
                Node& node = nodes_[static_cast<std::size_t>(beam)];
                node.place = followed_.add(place(node.parent), node.token, PointMass{});
            }
            const auto goes_on = [&](Index beam) { return followed_.grows(place(beam)); };
            std::ranges::copy_if(beams_, std::back_inserter(ends_), std::not_fn(goes_on));
            std::erase_if(beams_, std::not_fn(goes_on));
        }
        return true;
    }

    const std::vector<Node>& nodes() const { return nodes_; }  ///< parents before their children
    std::span<const Index> ends() const { return ends_; }      ///< last nodes of the final paths
    /// Return the tree of the paths that were followed.
    const DraftTree<PointMass>& followed() const { return followed_; }

    /// Order nodes by the probability of their paths, so that no parent comes after its child.
    auto likelier() const {
        return [this](Index a, Index b) { return at(a).prob != at(b).prob ? at(a).prob > at(b).prob : a < b; };
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(model_); }

  private:
    const Node& at(Index node) const { return nodes_[static_cast<std::size_t>(node)]; }
    Index place(Index node) const { return node == root_node ? root_node : at(node).place; }

    /// Score the next tokens of all beams: in one call, if the model takes trees.
    std::optional<RowFault> expand(std::span<const Token> prefix, Index level) {
        context_.assign(prefix.begin(), prefix.end());
        std::optional<RowFault> bad;
        if constexpr (TreeModel<Model>) {
            auto&& rows = model_.ask_about(context_, 0, followed_.view());
            require_rows(where_, rows, followed_.size() + 1);
            for (auto beam = beams_.begin(); beam != beams_.end() && !bad; ++beam)
                bad = expand(*beam, level, RowRef<decltype(element(rows, 0))>(element(rows, place(*beam) + 1)));
        } else {
            for (auto beam = beams_.begin(); beam != beams_.end() && !bad; ++beam) {
                context_.resize(prefix.size());
                followed_.append_path(place(*beam), context_);
                bad = expand(*beam, level, RowRef<Answer<Model>>(model_.ask_about(context_, 0)));
            }
        }
        return bad;
    }

    template <class Held>
    std::optional<RowFault> expand(Index beam, Index level, const Held& row) {
        const double prob = beam == root_node ? 1 : at(beam).prob;
        const Index found = with_row(row.row(), [&](const auto& given) {
            const auto view = as_row(given);  // made once: it finds the normaliser of logits
            const Index count = kernels::top_ids(view, ids_);
            for (const Token id : std::span(ids_).first(static_cast<std::size_t>(count)))
                if (id < followed_.vocab())
                    nodes_.push_back({beam, id, prob * static_cast<double>(view.coeff(id)), level, unfollowed});
            return count;
        });
        if (found > 0) return std::nullopt;
        const auto bad = kernels::inspect(row.row(), Side::draft, std::ssize(nodes_));
        if (bad && !makes_nothing_possible(*bad)) return bad;
        if (beam != root_node) ends_.push_back(beam);
        return std::nullopt;
    }

    /// Continue with the most probable of the nodes numbered `first` or more.
    void keep_likeliest(Index first) {
        beams_.resize(nodes_.size() - static_cast<std::size_t>(first));
        std::iota(beams_.begin(), beams_.end(), first);
        const auto kept = std::min(beams_.size(), ids_.size());
        std::ranges::partial_sort(beams_, beams_.begin() + static_cast<Index>(kept), likelier());
        beams_.resize(kept);
    }

    std::string_view where_;  ///< the drafter's name, for error messages
    Host<Model> model_;
    std::vector<Token> ids_;
    std::vector<Node> nodes_;
    std::vector<Index> beams_, ends_;
    DraftTree<PointMass> followed_;
    std::vector<Token> context_;
};

/// Add the marked nodes of a search to the draft tree.
/// @pre   the parent of a marked node is marked
template <class Model, class L>
void add_marked(const Beams<Model>& beams, const std::vector<bool>& marked, std::vector<Index>& added,
                DraftTree<L>& draft_tree) {
    const auto& nodes = beams.nodes();
    added.assign(nodes.size(), root_node);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!marked[i]) continue;
        const Index parent = nodes[i].parent;
        added[i] = draft_tree.add(parent == root_node ? root_node : added[static_cast<std::size_t>(parent)],
                                  nodes[i].token, PointMass{});
        if (nodes[i].place >= 0) draft_tree.take_ending(added[i], beams.followed(), nodes[i].place);
    }
}

}  // namespace detail

/// Drafts the final paths of a beam search of a model, as one tree in which equal beginnings are merged. Tokens are
/// chosen by their probability and not drawn, so they are point masses.
///
/// @tparam Model   a RowModel, or a TreeModel
/// @draws          none
/// @cost           one call of a TreeModel per level, with the followed paths as the tree; at most `width` calls of any
///                 other model per level
/// @edge           a path ends where the model makes no token possible
/// @source         Cheng et al.: "Recurrent drafter for fast speculative decoding in large language models" (ReDrafter,
///                 arXiv:2403.09919), whose beams are merged in the same way
template <detail::SearchedModel Model>
class BeamDrafter {
  public:
    using Distribution = PointMass;

    /// @throws std::invalid_argument unless 1 <= width <= most_drafted
    BeamDrafter(Model model, Index width) : beams_("BeamDrafter", std::move(model), width) {}

    template <class Source, class L>
        requires std::convertible_to<Distribution, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        if (!beams_.search(prefix, draft_tree)) return;
        const auto& nodes = beams_.nodes();
        marked_.assign(nodes.size(), false);
        for (Index node : beams_.ends())
            for (; node != root_node && !marked_[static_cast<std::size_t>(node)];
                 node = nodes[static_cast<std::size_t>(node)].parent)
                marked_[static_cast<std::size_t>(node)] = true;
        detail::add_marked(beams_, marked_, added_, draft_tree);
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(beams_); }

  private:
    detail::Beams<Model> beams_;
    std::vector<bool> marked_;
    std::vector<Index> added_;
};

/// The size of a dynamic tree.
struct DynamicTree {
    Index width = 10;  ///< paths followed on each level, and tokens scored after each path, >= 1
    Index nodes = 60;  ///< largest number of tokens in the tree, >= 1
};

/// Drafts, of all nodes that a beam search of a model scores, the nodes whose paths are the most probable under the
/// model: as many as give the most tokens per time, if every token is accepted with the probability that the model
/// gives it. With p_1 >= p_2 >= .. the probabilities of the paths:
///
///     argmax over n <= nodes of (1 + p_1 + .. + p_n) / cost(n + 1),   the most nodes on ties
///
/// Without a cost these are `nodes` nodes. Tokens are chosen by their probability and not drawn, so they are point
/// masses, and a size that depends on their rows is lossless.
///
///     DynamicTreeDrafter(model, {.width = 8, .nodes = 60}, [](Index n) { return 1 + .03 * double(n - 1); })
///
/// @tparam Cost   the cost of a target pass over n positions, as in theory::speedup: a table of times or a function
/// @draws         none
/// @cost          one call of a TreeModel per level, or at most `width` calls of any other model
/// @edge          a path ends where the model makes no token possible. No token is drafted where no tree pays
/// @source        Li et al.: "EAGLE-2: faster inference of language models with dynamic draft trees"
///                (arXiv:2406.16858), 4.2; the cost of a tree: Sequoia, arXiv:2402.12374
template <detail::SearchedModel Model, class Cost = theory::FlatCost>
class DynamicTreeDrafter {
    static_assert(theory::VerifyCost<Cost>,
                  "specsample::DynamicTreeDrafter: the third argument must be the cost of a target pass: a callable "
                  "cost(n) of n positions, which is 1 for n = 1, or a list of the times of 1, 2, .. positions");
    static constexpr auto where = "DynamicTreeDrafter";

  public:
    using Distribution = PointMass;

    /// @throws std::invalid_argument unless width and nodes are in 1 .. most_drafted, for a table of nodes times or
    ///         fewer, and in propose for a cost that is not finite and above 0
    explicit DynamicTreeDrafter(Model model, DynamicTree tree = {}, Cost verify_cost = {})
        : beams_(where, std::move(model), tree.width), most_(tree.nodes), cost_(std::move(verify_cost)) {
        detail::require_length(where, "nodes", tree.nodes, 1);
        if constexpr (theory::CostTable<Cost>)
            detail::require(std::ssize(std::span<const double>(cost_)) > most_, where, "size of the verify_cost table",
                            std::ssize(std::span<const double>(cost_)), "at least nodes + 1");
    }

    template <class Source, class L>
        requires std::convertible_to<Distribution, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        if (!beams_.search(prefix, draft_tree)) return;
        const auto& nodes = beams_.nodes();
        order_.resize(nodes.size());
        std::iota(order_.begin(), order_.end(), Index{0});
        const auto count = std::min(std::ssize(nodes), most_);
        std::ranges::partial_sort(order_, order_.begin() + count, beams_.likelier());
        marked_.assign(nodes.size(), false);
        const Index size = best_size(count);
        for (Index i = 0; i < size; ++i) marked_[ranked(i)] = true;
        detail::add_marked(beams_, marked_, added_, draft_tree);
    }

    /// Call visit on each model that is held here, for SharedModels.
    [[gnu::always_inline]] void each_model(const auto& visit) { visit(beams_); }

  private:
    std::size_t ranked(Index i) const { return static_cast<std::size_t>(order_[static_cast<std::size_t>(i)]); }

    /// Return how many of the first `count` nodes give the most tokens per time.
    Index best_size(Index count) const {
        double tokens = 1, most = 1 / detail::pass_cost(where, cost_, 1);
        Index best = 0;
        for (Index size = 1; size <= count; ++size) {
            tokens += beams_.nodes()[ranked(size - 1)].prob;
            const double speed = tokens / detail::pass_cost(where, cost_, size + 1);
            if (speed < most) continue;
            most = speed;
            best = size;
        }
        return best;
    }

    detail::Beams<Model> beams_;
    Index most_;
    Cost cost_;
    std::vector<Index> order_;
    std::vector<bool> marked_;
    std::vector<Index> added_;
};

}}  // namespace specsample

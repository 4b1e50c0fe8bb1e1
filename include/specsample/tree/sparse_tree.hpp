// Draft trees with the most accepted tokens per round, for known acceptance rates by rank.
//
// The trees are Medusa's (arXiv:2401.10774) and, for an acceptance vector, Sequoia's (arXiv:2402.12374).
//
//   RankAcceptance                                the acceptance rate of the candidate of each rank
//   sparse_tree(acceptance, nodes)                the best shape with a number of nodes
//   expected_path_value(shape, acceptance)        the expected accepted tokens per round of any shape
//   sparse_tree_tokens(acceptance, nodes, depth)  the expected tokens per round of the best shapes, for best_tree
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>
#include <specsample/tree/links.hpp>
#include <specsample/tree/tree_shape.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace theory {

/// The probability that the candidate of a rank is accepted, given that its parent was accepted.
///
///     RankAcceptance{{.7, .15, .06}}            an acceptance vector, the same at every depth
///     RankAcceptance{{{.6, .2}, {.5, .1}}}      a table with one row per depth; nothing is accepted below it
///
/// If braces alone do not compile (one row, or rows of one entry), name the vector's type.
///
/// A node is accepted with the product of the entries on its path, if these do not depend on the accepted tokens.
class RankAcceptance {
  public:
    /// @throws std::invalid_argument naming the entry that is not in [0, 1]
    RankAcceptance(std::vector<double> every_depth) : rows_{std::move(every_depth)}, repeats_(true) { check_entries(); }
    RankAcceptance(std::vector<std::vector<double>> by_depth) : rows_(std::move(by_depth)) { check_entries(); }

    /// Return the acceptance probability of each rank at a depth, counted from 1; empty below the table.
    std::span<const double> row(Index depth) const {
        if (repeats_) return rows_.front();
        if (depth > std::ssize(rows_)) return {};
        return rows_[static_cast<std::size_t>(depth - 1)];
    }

    /// Check that no row rises.
    /// @throws std::invalid_argument naming the first entry that is larger than its predecessor
    void require_falling(std::string_view where) const {
        for (const auto& row : rows_)
            if (const auto fall = std::ranges::adjacent_find(row, std::less{}); fall != row.end())
                detail::invalid(where, name(row, fall + 1), fall[1],
                                "at most " + detail::to_text(*fall) + ", that before");
    }

  private:
    void check_entries() const {
        for (const auto& row : rows_)
            for (auto entry = row.begin(); entry != row.end(); ++entry)
                if (!(detail::is_finite(*entry) && *entry >= 0 && *entry <= 1))
                    detail::invalid("RankAcceptance", name(row, entry), *entry, "in [0, 1]");
    }
    std::string name(const std::vector<double>& row, std::vector<double>::const_iterator entry) const {
        const std::string rank = "rank " + detail::to_text(entry - row.begin());
        return repeats_ ? rank : rank + " of depth " + detail::to_text(&row - rows_.data() + 1);
    }

    std::vector<std::vector<double>> rows_;
    bool repeats_ = false;
};

}  // namespace theory

namespace detail {

/// A node that take_largest may take next.
struct PathProduct {
    double value;  ///< the product along its path
    Index depth;
    Index parent;  ///< numbered in the order of taking
    Index rank;
    double above;  ///< the value of its parent

    friend bool operator<(const PathProduct& a, const PathProduct& b) {
        return std::tuple(-a.value, a.depth, a.parent, a.rank) > std::tuple(-b.value, b.depth, b.parent, b.rank);
    }
};

/// Call take(node) for the nodes with the largest path products, the largest first, without zeros. A product is at most
/// its parent's and, in falling rows, at most its elder sibling's, so the next node is always the first child or the
/// next sibling of a node that was taken.
template <class Take>
void take_largest(const theory::RankAcceptance& acceptance, Index nodes, Index max_depth, Take&& take) {
    std::priority_queue<PathProduct> offers;
    const auto offer = [&](Index depth, Index parent, Index rank, double above) {
        const auto row = depth <= max_depth ? acceptance.row(depth) : std::span<const double>{};
        if (rank >= std::ssize(row)) return;
        const double value = above * row[static_cast<std::size_t>(rank)];
        if (value > 0) offers.push({value, depth, parent, rank, above});
    };
    offer(1, root_node, 0, 1);
    for (Index node = 0; node < nodes && !offers.empty(); ++node) {
        const PathProduct best = offers.top();
        offers.pop();
        take(best);
        offer(best.depth, best.parent, best.rank + 1, best.above);
        offer(best.depth + 1, node, 0, best.value);
    }
}

/// Build a shape from nodes in any order in which parents and elder siblings come first.
[[nodiscard]] inline TreeShape breadth_first(const std::vector<Index>& parents, const std::vector<Index>& ranks) {
    Links links;
    links.connect(std::span(parents));
    std::vector<Index> order, new_parents, new_ranks;
    for (Index place = root_node; place < std::ssize(order); ++place) {
        const Index node = place == root_node ? root_node : order[static_cast<std::size_t>(place)];
        for (Index child = links.first_child(node); child != no_node; child = links.next_sibling(child)) {
            order.push_back(child);
            new_parents.push_back(place);
            new_ranks.push_back(ranks[static_cast<std::size_t>(child)]);
        }
    }
    return {std::move(new_parents), std::move(new_ranks)};
}

}  // namespace detail

/// Find the shape with the largest expected number of accepted tokens among all shapes with this number of nodes.
///
///     the n nodes with the largest  product over the path of acceptance(depth, rank)
///
/// Of equal products, the node with the smallest (depth, parent, rank) is taken first, where parents are numbered in
/// the order in which they were taken. So the tree of n nodes contains the tree of n - 1 nodes.
///
/// @param acceptance  no row may rise with the rank: only then do the nodes with the largest products form a tree
///                    without gaps, each with its parent and elder siblings. Smooth measured rows that rise by noise
///                    first
/// @param nodes       0 .. most_drafted; the prefix, and a root token, do not count
/// @param max_depth   the largest number of nodes on a path, 0 or more
/// @returns           the shape, with fewer nodes if no further node can be accepted: the table ends, or products are 0
/// @throws            std::invalid_argument for a row that rises or a bound outside its range
/// @cost              O(n log n)
/// @edge              0 nodes or depth 0: the empty shape, which is plain decoding
/// @source            Medusa's optimised tree construction, arXiv:2401.10774; for an acceptance vector the optimum of
///                    Sequoia's dynamic programme, arXiv:2402.12374
[[nodiscard]] inline TreeShape sparse_tree(const theory::RankAcceptance& acceptance, Index nodes,
                                           Index max_depth = std::numeric_limits<Index>::max()) {
    constexpr auto where = "sparse_tree";
    detail::require_length(where, "nodes", nodes, 0);
    detail::require(max_depth >= 0, where, "max_depth", max_depth, "at least 0");
    acceptance.require_falling(where);
    std::vector<Index> parents, ranks;
    detail::take_largest(acceptance, nodes, max_depth, [&](const detail::PathProduct& node) {
        parents.push_back(node.parent);
        ranks.push_back(node.rank);
    });
    return detail::breadth_first(parents, ranks);
}

namespace theory {

/// Compute the expected number of accepted tokens of a shape. A round emits one token more.
///
///     sum over the nodes of  product over the path of acceptance(depth, rank)
///
/// @param acceptance  rows may rise here
/// @throws            std::invalid_argument naming the first node whose rank or depth `acceptance` has no entry for
/// @cost              O(nodes)
/// @edge              the empty shape: 0
[[nodiscard]] inline double expected_path_value(const TreeShape& shape, const RankAcceptance& acceptance) {
    std::vector<double> products(static_cast<std::size_t>(shape.size()));
    double sum = 0;
    for (Index node = 0; node < shape.size(); ++node) {
        const auto row = acceptance.row(shape.depth(node));
        if (shape.rank(node) >= std::ssize(row))
            detail::invalid("expected_path_value", "the rank of node " + detail::to_text(node), shape.rank(node),
                            "below the " + detail::to_text(row.size()) + " of its depth");
        const Index parent = shape.parent(node);
        const double above = parent == root_node ? 1 : products[static_cast<std::size_t>(parent)];
        const double product = above * row[static_cast<std::size_t>(shape.rank(node))];
        products[static_cast<std::size_t>(node)] = product;
        sum += product;
    }
    return sum;
}

/// Compute the expected tokens per round of the best shapes of all sizes, for best_tree to choose from.
///
/// @returns  [max_depth + 1 x max_nodes + 1] entry (d, n): 1 + expected_path_value of sparse_tree(acceptance, n, d)
/// @throws   std::invalid_argument for a row that rises, a bound outside 0 .. most_drafted or more than 2^24 entries
/// @cost     O(max_depth max_nodes log max_nodes)
/// @edge     (0, n) and (d, 0): 1
[[nodiscard]] inline RowMajorMatrix<double> sparse_tree_tokens(const RankAcceptance& acceptance, Index max_nodes,
                                                               Index max_depth) {
    constexpr auto where = "sparse_tree_tokens";
    detail::require_length(where, "max_nodes", max_nodes, 0);
    detail::require_length(where, "max_depth", max_depth, 0);
    const Index entries = (max_depth + 1) * (max_nodes + 1);
    detail::require(entries <= Index{1} << 24, where, "the number of entries", entries, "at most 2^24");
    acceptance.require_falling(where);
    RowMajorMatrix<double> tokens = RowMajorMatrix<double>::Ones(max_depth + 1, max_nodes + 1);
    for (Index depth = 1; depth <= max_depth; ++depth) {
        Index nodes = 0;
        double sum = 1;
        detail::take_largest(acceptance, max_nodes, depth,
                             [&](const detail::PathProduct& node) { tokens(depth, ++nodes) = sum += node.value; });
        tokens.row(depth).tail(max_nodes - nodes).setConstant(sum);
    }
    return tokens;
}

}  // namespace theory

}}  // namespace specsample

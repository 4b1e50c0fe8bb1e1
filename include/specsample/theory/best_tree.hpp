// The best size of a drafted tree when the expected tokens and the cost of every size are known.
#pragma once

#include <iterator>
#include <span>
#include <string>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace theory {

/// The size of a drafted tree that `best_tree` found, and its speed-up.
struct BestTree {
    Index nodes = 0;     ///< 0: do not speculate
    Index depth = 0;     ///< levels below the root
    double speedup = 1;  ///< expected, in time over decoding with the target alone
};

/// Find the tree size that emits the most tokens per time; on ties the fewest nodes, then the smallest depth.
///
///     argmax over (d, n) of tokens(d, n) / (d draft_cost + cost(n + 1))
///
/// A level costs one draft pass, however many nodes it has. The target scores the nodes and the last token of the text.
/// An entry that is no larger than the entry for one node fewer is skipped, because its best tree has fewer than n
/// nodes.
///
///     const auto best = best_tree(sparse_tree_tokens(acceptance, 64, 8), draft_cost, times);
///     const TreeShape shape = sparse_tree(acceptance, best.nodes, best.depth);
///
/// @param tokens        an Eigen matrix or array [D + 1 x N + 1]; entry (d, n) is the expected tokens per round, at
///                      least 1, of the best tree of at most n nodes and depth d. Row 0 and column 0 stand for plain
///                      decoding, 1 by definition, and are not read
/// @param draft_cost    time of one draft pass over the time of one plain target pass, 0 or more
/// @param verify_cost   `FlatCost`, a callable (n) -> cost(n)/cost(1), or a table of the times of 1, 2, ... positions
/// @returns             nodes and depth 0 if no tree is faster than plain decoding
/// @throws              std::invalid_argument for an argument outside its range, for a matrix without entries, for a
///                      verify_cost that is not finite and positive, and for a table of fewer than N + 1 times
/// @cost                O(D N), N + 1 evaluations of verify_cost
/// @source              the hardware-aware tree optimiser of Sequoia, arXiv:2402.12374
template <class Tokens, VerifyCost Cost>
[[nodiscard]] BestTree best_tree(const Eigen::DenseBase<Tokens>& tokens, double draft_cost, const Cost& verify_cost) {
    constexpr auto where = "best_tree";
    const Index max_nodes = tokens.cols() - 1;
    detail::require(tokens.size() > 0, where, "the size of tokens", tokens.size(), "1 or more");
    detail::require(detail::is_finite(draft_cost) && draft_cost >= 0, where, "draft_cost", draft_cost,
                    "finite and 0 or more");
    if constexpr (CostTable<Cost>) {
        const auto times = std::ssize(std::span<const double>(verify_cost));
        if (times <= max_nodes)
            detail::invalid(where, "size of the verify_cost table", times,
                            "at least the number of nodes + 1, " + detail::to_text(max_nodes + 1));
    }
    BestTree best{.speedup = 1 / detail::pass_cost(where, verify_cost, 1)};
    for (Index nodes = 1; nodes <= max_nodes; ++nodes) {
        const double cost = detail::pass_cost(where, verify_cost, nodes + 1);
        for (Index depth = 1; depth < tokens.rows(); ++depth) {
            const double emitted = tokens(depth, nodes);
            detail::require(detail::is_finite(emitted) && emitted >= 1, where, "an entry of tokens", emitted,
                            "finite and 1 or more");
            if (emitted <= (nodes == 1 ? 1 : tokens(depth, nodes - 1))) continue;
            const double speedup = emitted / (static_cast<double>(depth) * draft_cost + cost);
            if (speedup > best.speedup) best = {nodes, depth, speedup};
        }
    }
    return best;
}

}  // namespace theory

}}  // namespace specsample

// Token verification: each drafted token is accepted with probability min(1, p/q) until one is rejected.
//
// Leviathan, Kalman, Matias: "Fast inference from transformers via speculative decoding", ICML 2023
// (arXiv:2211.17192), Theorem 1 and appendix A.1; Chen et al.: "Accelerating large language model decoding with
// speculative sampling", 2023 (arXiv:2302.01318), Theorem 1.
//
// Its walk is the top-down walk: nodes are decided from the root down, and an accepted child is final.
//
// The children of a node are tried in the order in which they were drawn. The walk goes on from an accepted child; if
// none is accepted, the last token is drawn from the residual. On a chain this is token verification, on a tree
// recursive rejection. The walk never reads past the node where it stops.
#pragma once

#include <concepts>

#include <specsample/verify/residual_target.hpp>
#include <specsample/verify/rules.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

/// A node as the top-down walk uses it; ResidualTarget is one.
template <class N>
concept TopDownNode = requires(N& node, Index child) {
    { node.ratio(child) } -> std::same_as<Ratio>;  // the acceptance probability of a child, within a slack
    node.weigh(child);                             // makes the next ratio exact
    node.reject(child);
    node.is_residual();  // true once a child was rejected
    node.fault();
};

/// Walk down a drafted tree from its root, on nodes that the caller makes.
///
/// @param context   the draft and the target's rows
/// @param open      open(node) -> a TopDownNode
/// @returns         the accepted path and the last token, or the fault that was met
/// @draws           one accept draw per child tried, then one last-token draw, unless a budget or the end of the text
///                  ends the round earlier
/// @cost            the cost of the nodes' functions; no allocation
template <class T, class Open>
Outcome top_down(const T& context, const Open& open) {
    Outcome outcome;
    for (;;) {
        TopDownNode auto node = open(outcome.node);
        Index child = context.shape.first_child(outcome.node);
        for (; child != no_node && !node.fault(); child = context.shape.next_sibling(child)) {
            const Ratio chance = node.ratio(child);
            const auto exact = [&] {
                node.weigh(child);
                return node.ratio(child);
            };
            if (node.fault() || accept_ratio(context.rng.at(Purpose::accept, child), chance, exact)) break;
            if (!node.fault()) node.reject(child);
        }
        if (!node.fault() && child == no_node) {
            outcome.token = static_cast<Token>(node.draw(context.rng.at(Purpose::last, 0)).index);
            outcome.last = node.is_residual() ? LastToken::recovered : LastToken::bonus;
        }
        outcome.fault = node.fault();
        if (outcome.fault || child == no_node) return outcome;

        outcome.node = child;
        ++outcome.accepted;
        if (outcome.accepted == context.limits.max_tokens || context.ends(child)) return outcome;
    }
}

/// Walk down a drafted tree on residual targets.
/// @cost   O(1) per child tried, one pass per child that is tried after a rejected sibling drawn from a row, and one
///         pass for the last token
template <class T>
Outcome top_down(const T& context) {
    return top_down(context, [&](Index node) { return ResidualTarget<T>(context, node); });
}

}  // namespace walks

}}  // namespace specsample

// The top-down walk: top-down, an accepted child is final.
//
// At a node the children are tried in the order of their drawing. An accepted child becomes the node; where none is
// left, the last token is drawn from what the rejections have left over. On a chain this is token verification, on a
// tree recursive rejection. The walk never reads past the node where it stops.
#pragma once

#include <concepts>

#include <specsample/verify/residual_target.hpp>

namespace specsample {

namespace walks {

/// What a top-down walk asks of the node it stands on.
template <class N>
concept TopDownNode = requires(N& node, Index child) {
    { node.ratio(child) } -> std::same_as<Ratio>;  // the chance that the child is accepted
    node.reject(child);
    node.is_residual();  // does a last token come after a rejection?
    node.fault();
};

/// Walk down from the root of a draft, on nodes of the caller's making.
///
/// @param context   the draft; random draws used: one accept draw per child tried, one last-token draw
/// @param open    open(node) -> a TopDownNode
/// @returns       the accepted path and the last token, or the fault that was met
/// @cost          what the nodes cost; no allocation
template <class T, class Open>
Outcome top_down(const T& context, const Open& open) {
    Outcome outcome;
    for (;;) {
        TopDownNode auto node = open(outcome.node);
        Index child = context.shape.first_child(outcome.node);
        for (; child != no_node && !node.fault(); child = context.shape.next_sibling(child)) {
            const Ratio chance = node.ratio(child);
            if (node.fault() || accept(context.rng.at(Purpose::accept, child), chance.s, chance.q)) break;
            node.reject(child);
        }
        if (!node.fault() && child == no_node) {
            outcome.token = static_cast<Token>(node.draw(context.rng.at(Purpose::last, 0)).index);
            outcome.last = node.is_residual() ? LastToken::recovered : LastToken::bonus;
        }
        outcome.fault = node.fault();
        if (outcome.fault || child == no_node) return outcome;

        outcome.node = child;
        ++outcome.accepted;
        if (outcome.accepted == context.limits.max_tokens || context.limits.stops(context.token(child))) return outcome;
    }
}

/// The walk on residual target.
/// @cost   O(1) per child tried, a pass for each but the first of a node that was drawn from a row, and one for the
///         last token
template <class T>
Outcome top_down(const T& context) {
    return top_down(context, [&](Index node) { return ResidualTarget<T>(context, node); });
}
}  // namespace walks

}  // namespace specsample

// The match walk: the target decides its token without looking at the draft, and the draft only saves the pass.
//
// The noise of a decision belongs to the position in the text, not to the round. So the text is the same whatever the
// draft was: any drafter, any lookahead, any tree, or none. Distributions are not looked at, so any will do.
//
//   GreedyMatch    argmax
//   SampleMatch    drawn from the target
//   GumbelMatch    won in a race with noise that the drafter shares
#pragma once

#include <specsample/random/draw.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample {

namespace walks {

/// Walk down from the root for as long as a child carries the target's token.
///
/// @param context    the draft; random draws used: one race draw per position, at the absolute position
/// @param decide   decide(node, random draw) -> the target's token, or a fault of the node
/// @returns        the accepted path and the target's token after it
/// @cost           one decision per position reached; no allocation
template <class T, class Decide>
Outcome match(const T& context, const Decide& decide) {
    Outcome outcome;
    for (;;) {
        NodeRow<T> node(context, outcome.node);
        if (!node.fault())
            outcome.token = static_cast<Token>(decide(node, context.rng.at(Purpose::race, outcome.accepted)));
        outcome.fault = node.fault();
        if (outcome.fault) return outcome;

        const Index first = context.shape.first_child(outcome.node);
        Index child = first;
        while (child != no_node && context.token(child) != outcome.token) child = context.shape.next_sibling(child);
        if (child == no_node) {
            outcome.last = first == no_node ? LastToken::bonus : LastToken::matched;
            return outcome;
        }
        outcome.node = child;
        ++outcome.accepted;
        if (outcome.accepted == context.limits.max_tokens || context.limits.stops(outcome.token)) return outcome;
    }
}
}  // namespace walks

}  // namespace specsample

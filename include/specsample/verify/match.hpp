// The match walk: the target decides its token without looking at the draft, and the draft only saves the pass.
//
// The noise of a decision belongs to the position in the text, not to the round. So the text is the same whatever the
// draft was: any drafter, any lookahead, any tree, or none. Laws are not looked at, so any will do.
//
//   GreedyMatch    argmax
//   SampleMatch    drawn from the target
//   GumbelMatch    won in a race with noise that the drafter shares
#pragma once

#include <specsample/random/draw.hpp>
#include <specsample/verify/trial.hpp>

namespace specsample {

/// Walk down from the root for as long as a child carries the target's token.
///
/// @param trial    the draft; coins used: one race coin per position, at the absolute position
/// @param decide   decide(node, coin) -> the target's token, or a fault of the node
/// @returns        the accepted path and the target's token after it
/// @cost           one decision per position reached; no allocation
template <class T, class Decide>
Outcome match(const T& trial, const Decide& decide) {
    Outcome outcome;
    for (;;) {
        NodeRow<T> node(trial, outcome.node);
        if (!node.fault())
            outcome.token = static_cast<Token>(decide(node, trial.coins.at(Purpose::race, outcome.accepted)));
        outcome.fault = node.fault();
        if (outcome.fault) return outcome;

        const Index first = trial.shape.first_child(outcome.node);
        Index child = first;
        while (child != no_node && trial.token(child) != outcome.token) child = trial.shape.next_sibling(child);
        if (child == no_node) {
            outcome.last = first == no_node ? Last::bonus : Last::matched;
            return outcome;
        }
        outcome.node = child;
        ++outcome.accepted;
        if (outcome.accepted == trial.limits.max_tokens || trial.limits.stops(outcome.token)) return outcome;
    }
}

}  // namespace specsample

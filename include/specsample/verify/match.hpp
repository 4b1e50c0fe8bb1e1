// The match walk: the target's token is decided without looking at the draft, and a drafted token is accepted if it is
// the same.
//
// The random numbers of a decision are keyed by the position in the text, not by the round. So the text is the same
// whatever was drafted: by any drafter, with any lookahead, as any tree, or not at all. The walk never reads the
// distributions of drafted tokens, so the text is exact whatever they are.
//
//   GreedyMatch   the target's token is the argmax of its row
//   SampleMatch   the target's token is drawn from its row
//   GumbelMatch   the target's token wins a race with noise that the drafter shares
#pragma once

#include <specsample/random/draw.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

/// How a match rule decides the target's token. Ranks that share split rows use it to decide all tokens in one
/// exchange.
enum class Decision {
    largest,  ///< the largest entry
    draw,     ///< a draw
    race      ///< a race
};

/// Walk down from the root for as long as a child carries the target's token.
///
/// @param context   the draft and the target's rows
/// @param decide    decide(node, rng) -> the target's token; it records a fault in the node if the row is bad
/// @returns         the accepted path and the target's token after it
/// @draws           the draws of `decide` at each position reached, addressed by the absolute position
/// @cost            one decision per position reached; no allocation
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
        if (outcome.accepted == context.limits.max_tokens || context.ends(child)) return outcome;
    }
}

}  // namespace walks

}}  // namespace specsample

// The match walk, of three rules: the target's token is decided without looking at the draft, and a drafted token is
// accepted if it is the same.
//
// The random numbers of a decision are keyed by the position in the text, not by the round. So the text is the same
// whatever was drafted: by any drafter, with any lookahead, as any tree, or not at all. The walk never reads the
// distributions of drafted tokens, so the text is exact whatever they are.
//
//   GreedyMatch   the target's token is the argmax of its row
//   SampleMatch   the target's token is drawn from its row
//   GumbelMatch   the target's token wins a race with noise that the drafter shares
//
// Stern, Shazeer, Uszkoreit: "Blockwise parallel decoding for deep autoregressive models", NeurIPS 2018
// (arXiv:1811.03115), section 3: GreedyMatch.
// Miao et al.: "SpecInfer", ASPLOS 2024 (arXiv:2305.09781), section 4.3, "naive sampling": SampleMatch. Engines use it
// for drafts that have no distribution, and on trees of point masses (Medusa, EAGLE-2, retrieval).
// Daliri, Musco, Suresh: "Coupling without communication and drafter-invariant speculative decoding", 2024
// (arXiv:2408.07978), Theorem 2: GumbelMatch. Its use on trees, with several winners per node, was not found in the
// literature.
#pragma once

#include <specsample/kernels/argmax.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/verify/round_context.hpp>
#include <specsample/verify/rules.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

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

/// Decide the tokens by the largest entry, a draw or a race.
template <Decision decision, class T>
Outcome match(const T& context) {
    return match(context, [](auto& node, const auto& rng) -> Index {
        if constexpr (decision == Decision::draw) return node.draw_from_row(rng).index;
        Index token = -1;
        if constexpr (decision == Decision::race) token = race(rng, node.row());
        if constexpr (decision == Decision::largest) token = kernels::argmax(node.row());
        bool may_be_zero = decision == Decision::race;  // logits may be 0, and a race has no other winner
        if constexpr (std::remove_cvref_t<decltype(node)>::form.logits) may_be_zero |= node.row().has_logits();
        if (token < 0 || !(may_be_zero || node.view().coeff(token) > 0)) node.blame_row();
        return token;
    });
}

}  // namespace walks

}}  // namespace specsample

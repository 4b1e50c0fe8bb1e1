// The match walk and its rules: the target's token is decided without looking at the draft, and a drafted token is
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

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace walks {

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

/// Greedy decoding of the target: argmax at every position, the lowest id on ties.
///
/// It is not lossless, because the text does not follow the target's rows but their argmax. Temperature{0} with any
/// lossless rule gives the same text.
///
/// @draws    none
/// @cost     one pass per position reached
/// @source   Stern, Shazeer, Uszkoreit (arXiv:1811.03115), section 3
struct GreedyMatch {
    static constexpr bool lossless = false;
    static constexpr bool drafter_invariant = true;
    static constexpr bool reads_once = true;
    static constexpr auto decision = walks::Decision::largest;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto&) {
            const Index token = kernels::argmax(node.row());
            if (token < 0) node.blame_row();
            bool are_logits = false;
            if constexpr (std::remove_cvref_t<decltype(node)>::form.logits) are_logits = node.row().has_logits();
            if (token >= 0 && !are_logits && !(node.view().coeff(token) > 0)) node.blame_row();  // it must be positive
            return token;
        });
    }
};

/// Draws the target's token at every position and accepts a drafted token that is the same.
///
/// A drafted token x is accepted with probability p(x), so a token drawn from q is accepted with probability sum p q.
/// For point masses no rule accepts more.
///
/// @draws    one per position reached, at the address of the position's race
/// @cost     one pass per position reached
/// @source   Miao et al. (arXiv:2305.09781), section 4.3, "naive sampling"
struct SampleMatch {
    static constexpr bool lossless = true;
    static constexpr bool drafter_invariant = true;
    static constexpr bool reads_once = true;
    static constexpr auto decision = walks::Decision::draw;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto& rng) { return node.draw_from_row(rng).index; });
    }
};

/// Draws the target's token by a race whose noise the drafter shares, and accepts a drafted token that is the same.
///
///     E_t(i)  exponential, a function of (seed, request, t, i),  t the absolute position
///     drafted  argmin_i E_t(i) / q(i)  (in a tree: the first n),     target  argmin_i E_t(i) / p(i)
///
/// A token is accepted with probability sum_i 1 / sum_j max(p_j / p_i, q_j / q_i), at least (1 - TV) / (1 + TV). Under
/// this rule `Sampler` draws its drafts with the target's noise.
///
/// @draws    one race per position reached: a number per block of 64 ids, and one per id that may win
/// @cost     one pass over a row per position reached, with a random number per 64 ids; logits are not normalised
/// @source   Daliri, Musco, Suresh (arXiv:2408.07978), Theorem 2
struct GumbelMatch {
    static constexpr bool lossless = true;
    static constexpr bool drafter_invariant = true;
    static constexpr bool reads_once = true;
    static constexpr auto decision = walks::Decision::race;
    static constexpr bool shares_noise = true;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::match(context, [](auto& node, const auto& rng) {
            const Index token = race(rng, node.row());
            if (token < 0) node.blame_row();
            return token;
        });
    }
};

}}  // namespace specsample

// The concept Rule: how to write a rule of one's own.
//
// A rule is a value that verify calls once per round, `rule(context) -> Outcome`, with a constant `lossless` in its
// type:
//
//     struct SampleAndCompare {
//         static constexpr bool lossless = true;
//
//         template <class T>
//         Outcome operator()(const T& context) const {
//             for (Outcome end;;) {
//                 walks::NodeRow<T> row(context, end.node);
//                 const auto rng = context.rng.at(Purpose::last, end.accepted);
//                 end.token = static_cast<Token>(row.draw_from_row(rng).index);
//                 end.fault = row.fault();
//                 const Index child = context.shape.first_child(end.node);
//                 end.last = child == no_node ? LastToken::bonus : LastToken::matched;
//                 if (end.fault || child == no_node || context.token(child) != end.token) return end;
//                 end = {.node = child, .accepted = end.accepted + 1, .last = LastToken::stopped, .token = end.token};
//                 if (end.accepted == context.limits.max_tokens || context.ends(child)) return end;
//             }
//         }
//     };
//
// This rule draws the target's token at every node and keeps drafted tokens for as long as they equal it.
// testing::distance_from_target(SampleAndCompare{}, draft, target, lookahead) proves the claim by enumeration.
//
// The input is a RoundContext, const and valid for the call:
//   context.shape           nodes 0 .. K-1 and root_node, the prefix: size(), depth(), parent(node), first_child(node),
//                           next_sibling(node). The last two return no_node if there is none. A chain is the tree
//                           with one child per node
//   context.token(node)     a drafted token, inside the vocabulary
//   context.distributions   what the tokens were drawn from; NodeRow::distribution(child) reads one and checks it
//   context.row(node)       the target's row after a node. A computed row costs a model's pass: ask for it once, when
//                           the walk reaches the node. walks::NodeRow<T>(context, node) holds the row and checks what
//                           is read: entry(token), view(), draw_from_row(rng), fault()
//   context.ends(node)      whether the text ends at a node, by a stop token or limits.until: nothing follows such a
//                           node, and the row after it must not be asked for
//   context.limits          max_tokens
//   context.vocab           the number of ids
//   context.workspace       memory that is reused from round to round
//
// All random numbers come from context.rng.at(purpose, node), by accept(rng, s, q), draw(rng, row) and race(rng, row)
// of random/draw.hpp. An address serves one decision of a round; addresses may be used in any order:
//   Purpose::accept, node   one per drafted node that is judged
//   Purpose::last, i        one per token that is drawn from the target or the residual; at 0 if there is only one
//   Purpose::race, i        the target's own noise at the position i tokens after the prefix: the same in every round
//                           that reaches the position. For rules whose text does not depend on the draft
//                           (drafter_invariant). A rule that shares this noise with the drafter says
//                           `static constexpr bool shares_noise = true`
// Purpose::draft and Purpose::policy belong to drafters. A source over an engine's own generator ignores the addresses
// and returns numbers in the order in which they are asked for, so a rule documents that order.
//
// The result is an Outcome:
//   node, accepted   the last accepted node and the number of nodes on its path; root_node and 0 if there is none
//   last, token      the kind and the id of the token after the path: recovered after a rejection, bonus at a leaf,
//                    matched where the target left the draft. LastToken::stopped if there is no such token: the text
//                    ends with the accepted path, or the path is max_tokens long
//   fault            the first bad data met, after which nothing more is read
// A rule throws nothing on data, keeps no state between rounds, and may run on several threads at once.
//
// `lossless` promises that the text has exactly the target's distribution whatever was drafted. Two more constants let
// a Sampler cut drafts to the budget that is left: `drafter_invariant = true`, if the text does not depend on the
// draft, and `looks_ahead = false`, if no kept token depends on the drafted tokens after it. With `reads_once = true`,
// for a rule that holds one row at a time and never comes back to one (as walks::top_down and walks::match do), the
// Sampler does not copy the rows of a target that scores one position at a time. Most rules are a few lines
// on one of three walks, which handle limits, faults and trees: walks::top_down, walks::bottom_up and walks::match.
// examples/own_rule.cpp has a rule and its proof.
#pragma once

#include <specsample/concepts.hpp>              // IWYU pragma: export
#include <specsample/verify/round_context.hpp>  // IWYU pragma: export

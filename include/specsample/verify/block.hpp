// Block verification: the prefixes of a draft are judged from the longest to the shortest; the first accepted is kept.
//
// Sun et al.: "Block verification accelerates speculative decoding", ICLR 2025 (arXiv:2403.10444), Theorems 1 and 2.
//
// Its walk is the bottom-up walk: a node is accepted or rejected only after everything drafted below it has been
// rejected.
//
// A child is not decided when it is reached, but entered with the weight c = min(1, s(x) / Q(x)), and its whole subtree
// is tried first. A node without a child left is accepted with probability w, the mass of its residual; otherwise it is
// rejected, and the walk returns to its parent, which tries the next child. The root is never rejected. On a chain this
// is block verification, on a tree traversal verification.
//
// A decision may depend on drafted tokens that are not kept. So a round must not use the random numbers of the previous
// round again: draws are keyed by the round's start, never by the absolute position alone. With draws keyed by the
// position alone, the text of a toy model with two tokens is off by a total variation of 1/18.
#pragma once

#include <algorithm>

#include <specsample/verify/residual_target.hpp>
#include <specsample/verify/rules.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// The next move of a walk: down to a child, stay and end here, or up to the parent.
enum class Step { down, keep, up };

/// The state of a walk between two steps.
struct BottomUpState {
    Outcome outcome{};         ///< its `node` is where the walk stands
    double c = 1;              ///< the weight with which that node is entered
    Index rejected = no_node;  ///< the child that the walk has come back from; no_node where the node is entered
    Index child = no_node;     ///< the child to go down to
};

/// Make one step: reject the child that the walk has come back from, look for the next child that can be accepted, and
/// decide about the node itself if there is no such child.
template <class T>
Step stand(const T& context, BottomUpState& walk) {
    const Index at = walk.outcome.node;
    if (context.ends(at))  // the row after such a node is not read
        return accept(context.rng.at(Purpose::accept, at), walk.c, 1) ? Step::keep : Step::up;

    using Node = walks::ResidualTarget<T, true>;
    const bool entered = walk.rejected == no_node;
    Node node = entered ? Node(context, at, walk.c) : Node(context, at, typename Node::Return{});
    if (!entered && !node.fault()) node.reject(walk.rejected);
    Index child = entered ? context.shape.first_child(at) : context.shape.next_sibling(walk.rejected);
    for (; child != no_node && !node.fault(); child = context.shape.next_sibling(child)) {
        node.weigh(child);
        const walks::Ratio chance = node.ratio(child);
        walk.c = chance.probability();
        walk.child = child;
        if (node.fault()) break;
        if (walk.c > 0) return Step::down;
        node.reject(child);
    }
    // Where the budget ends the text, a row may make nothing possible. Such a node is a leaf, as where the text ends.
    const bool ends_here = walk.outcome.accepted >= context.limits.max_tokens;
    const auto is_over = [&] { return ends_here && node.fault() && makes_nothing_possible(*node.fault()); };
    const walks::Ratio mass = node.fault() ? walks::Ratio{context.state(at).c, 1} : node.mass();
    if ((!node.fault() || is_over()) && at != root_node && !accept(context.rng.at(Purpose::accept, at), mass.s, mass.q))
        return Step::up;
    if (!node.fault()) {
        walk.outcome.token = static_cast<Token>(node.draw(context.rng.at(Purpose::last, 0)).index);
        walk.outcome.last = node.is_residual() ? LastToken::recovered : LastToken::bonus;
    }
    if (is_over()) walk.outcome.last = LastToken::stopped;
    walk.outcome.fault = is_over() ? std::optional<RowFault>() : node.fault();
    return Step::keep;
}

}  // namespace detail

namespace walks {

/// Walk a drafted tree from its leaves up, first children first.
///
/// @param context   the draft and its rows
/// @returns         the accepted path and the last token, or the fault that was met
/// @draws           one accept draw per node that is decided, except the root, then one last-token draw, unless the
///                  accepted path ends the text
/// @cost            one pass per rejected child that was drawn from a row. The last of these passes also gives the last
///                  token, which takes a pass of its own only if nothing was rejected. One more pass per entered node,
///                  once in a round, for the sum of its probabilities or the normaliser of its logits. Siblings from
///                  logits become weights once for all of them, in the workspace; no allocation once it is large enough
template <class T>
Outcome bottom_up(const T& context) {
    detail::BottomUpState walk;
    for (;;) {
        switch (detail::stand(context, walk)) {
            case detail::Step::keep:
                return walk.outcome;
            case detail::Step::down:
                walk.outcome.node = walk.child;
                ++walk.outcome.accepted;
                walk.rejected = no_node;
                break;
            case detail::Step::up:
                walk.rejected = walk.outcome.node;
                walk.outcome.node = context.shape.parent(walk.rejected);
                --walk.outcome.accepted;
                break;
        }
    }
}

}  // namespace walks

}}  // namespace specsample

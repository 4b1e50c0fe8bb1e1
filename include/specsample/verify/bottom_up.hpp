// The bottom-up walk: bottom-up, nothing is final until the node it hangs from is left.
//
// A child is entered with c = min(1, s(x) / Q(x)) as its weight, instead of a decision, and its whole subtree is tried
// first. A node without a child left is kept with probability w, the mass of its residual; else its rejection is
// reported to the node above, which tries the next child. The root keeps what is left.
//
// Decisions depend on tokens beyond those that are kept. So the noise of a round must not come back in the next one:
// random draws are keyed by the round's start, never by the absolute position alone (1/18 off on two tokens).
#pragma once

#include <algorithm>

#include <specsample/verify/residual_target.hpp>

namespace specsample {
namespace detail {

/// Where a walk goes from a node: to a child, to the end, or back to the node above.
enum class Step { down, keep, up };

/// A walk between two steps.
struct BottomUpState {
    Outcome outcome{};         ///< its `node` is where the walk stands
    double c = 1;              ///< what that node's row is scaled by, if it is entered
    Index rejected = no_node;  ///< the child that the walk has come back from, if it is not
    Index child = no_node;     ///< where to go down to
};

/// Stand on a node: reject the child that the walk comes back from, look for the next one with a chance, and decide
/// about the node itself where there is none.
template <class T>
Step stand(const T& context, BottomUpState& walk) {
    const Index at = walk.outcome.node;
    if (at != root_node && context.limits.stops(context.token(at)))  // a leaf, whose row nobody needs
        return accept(context.rng.at(Purpose::accept, at), walk.c, 1) ? Step::keep : Step::up;

    using Node = walks::ResidualTarget<T>;
    const bool entered = walk.rejected == no_node;
    Node node = entered ? Node(context, at, walk.c) : Node(context, at, typename Node::Return{});
    if (!entered && !node.fault()) node.reject(walk.rejected);
    Index child = entered ? context.shape.first_child(at) : context.shape.next_sibling(walk.rejected);
    for (; child != no_node && !node.fault(); child = context.shape.next_sibling(child)) {
        const walks::Ratio chance = node.ratio(child);
        walk.c = chance.s > 0 ? std::min(1.0, chance.s / chance.q) : 0;
        walk.child = child;
        if (walk.c > 0 && !node.fault()) return Step::down;
        node.reject(child);
    }
    const walks::Ratio mass = node.fault() ? walks::Ratio{} : node.mass();
    if (!node.fault() && at != root_node && !accept(context.rng.at(Purpose::accept, at), mass.s, mass.q))
        return Step::up;
    if (!node.fault()) {
        walk.outcome.token = static_cast<Token>(node.draw(context.rng.at(Purpose::last, 0)).index);
        walk.outcome.last = node.is_residual() ? LastToken::recovered : LastToken::bonus;
    }
    walk.outcome.fault = node.fault();
    return Step::keep;
}

}  // namespace detail

namespace walks {

/// Walk up from the leaves of a draft, the first child's first.
///
/// @param context   the draft; random draws used: one accept draw per node that is left by its last child, the root
/// excepted,
///                and one last-token draw
/// @returns       the accepted path and the last token, or the fault that was met
/// @cost          a pass per child rejected that was drawn from a row; the last of them serves the last token, which
///                costs a pass of its own only where nothing was rejected. No allocation
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

}  // namespace specsample

// The climb walk: bottom-up, nothing is final until the node it hangs from is left.
//
// A child is entered with c = min(1, s(x) / Q(x)) as its weight, instead of a decision, and its whole subtree is tried
// first. A node without a child left is kept with probability w, the mass of what it still owes; else its rejection is
// reported to the node above, which tries the next child. The root keeps what is left.
//
// Decisions depend on tokens beyond those that are kept. So the noise of a round must not come back in the next one:
// coins are keyed by the round's start, never by the absolute position alone (1/18 off on two tokens).
#pragma once

#include <algorithm>

#include <specsample/verify/sub_target.hpp>

namespace specsample {
namespace detail {

/// The first child at or after `child` that has a chance, with that; those before it are rejected.
template <class T>
Index next_with_a_chance(SubTarget<T>& node, Index child, double& c) {
    for (; child != no_node; child = node.trial().shape.next_sibling(child)) {
        const Ratio chance = node.ratio(child);
        if (node.fault()) break;
        c = chance.s > 0 ? std::min(1.0, chance.s / chance.q) : 0;
        if (c > 0) break;
        node.reject(child);
    }
    return child;
}

}  // namespace detail

/// Walk up from the leaves of a draft, the first child's first.
///
/// @param trial   the draft; coins used: one accept coin per node that is left by its last child, the root excepted,
///                and one last coin
/// @returns       the accepted path and the last token, or the fault that was met
/// @cost          a pass per child rejected that was drawn from a row; the last of them serves the last token, which
///                costs a pass of its own only where nothing was rejected. No allocation
template <class T>
Outcome climb(const T& trial) {
    using Node = SubTarget<T>;
    Outcome outcome;
    Index& at = outcome.node;
    double c = 1;              // of the node that is entered
    Index rejected = no_node;  // the child that the walk comes back from
    for (;;) {
        const bool stop = at != root_node && trial.limits.stops(trial.token(at));  // a leaf, whose row nobody needs
        bool kept = false;
        if (stop) {
            kept = accept(trial.coins.at(Purpose::accept, at), c, 1);
        } else {
            Node node = rejected == no_node ? Node(trial, at, c) : Node(trial, at, typename Node::Return{});
            Index child = rejected == no_node ? trial.shape.first_child(at) : trial.shape.next_sibling(rejected);
            if (!node.fault() && rejected != no_node) node.reject(rejected);
            if (!node.fault()) child = detail::next_with_a_chance(node, child, c);
            if (!node.fault() && child != no_node) {
                at = child;
                rejected = no_node;
                ++outcome.accepted;
                continue;
            }
            const Ratio mass = node.fault() ? Ratio{} : node.mass();
            kept = !node.fault() && (at == root_node || accept(trial.coins.at(Purpose::accept, at), mass.s, mass.q));
            if (kept) {
                outcome.token = static_cast<Token>(node.draw(trial.coins.at(Purpose::last, 0)).index);
                outcome.last = node.is_residual() ? Last::recovered : Last::bonus;
            }
            outcome.fault = node.fault();
        }
        if (kept || outcome.fault) return outcome;
        rejected = at;
        at = trial.shape.parent(at);
        --outcome.accepted;
    }
}

}  // namespace specsample

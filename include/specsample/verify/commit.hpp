// The commit walk: top-down, an accepted child is final.
//
// At a node the sub-target is s = p(. | node). A drafted child (token x, law Q) is accepted with probability
// min(1, s(x)/Q(x)), and the walk goes on from it with its own row. A rejected child leaves the residual
// max(0, s - Q) for its siblings; where no child is left, the last token is drawn from what remains.
//
// On a chain this is token verification. The walk never reads past the node where it stops.
#pragma once

#include <optional>

#include <specsample/proposal/chain.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/verify/sub_target.hpp>
#include <specsample/verify/trial.hpp>

namespace specsample {

/// Walk down from the root of a draft.
///
/// @param shape   the drafted nodes in preorder
/// @param trial   tokens, laws and rows of the nodes; coins used: one accept coin per node tested, one last coin
/// @returns       the length of the accepted path and the last token, or the fault that was met
/// @cost          O(1) per node tested and one pass for the last token; no allocation
template <class Shape, class Laws, class Rows, class Source>
Outcome commit(const Shape& shape, const Trial<Laws, Rows, Source>& trial) {
    using Held = detail::HeldRow<detail::Element<Rows>>;
    using View = decltype(std::declval<const Held&>().view());
    using L = std::remove_cvref_t<decltype(detail::law_at(trial.laws, 0))>;

    Outcome outcome;
    std::optional<Held> held;
    std::optional<SubTarget<View, L>> sub;
    const auto enter = [&](Index number) {
        held.emplace(detail::element(trial.rows, number));
        sub.emplace(held->view(), number);
        outcome.fault = detail::check_row(sub->row(), Party::target, number, trial.vocab, trial.limits.check);
        return !outcome.fault;
    };

    if (!enter(0)) return outcome;
    Index end = static_cast<Index>(trial.tokens.size());  // of the subtree the walk is in
    for (Index node = 0; node < end;) {
        const Token token = trial.tokens[static_cast<std::size_t>(node)];
        const L law = detail::law_at(trial.laws, node);
        const double s = sub->mass(token);
        outcome.fault = detail::check_entry<typename View::Scalar>(s, token, Party::target, sub->number());
        if (!outcome.fault) outcome.fault = detail::check_law(law, token, node, trial.vocab, trial.limits.check);
        if (outcome.fault) return outcome;

        ++outcome.evaluated;
        if (accept(trial.coins.at(Purpose::accept, node), s, law.mass(token))) {
            ++outcome.accepted;
            if (outcome.accepted == trial.limits.max_tokens || trial.limits.stops(token)) return outcome;
            if (!enter(node + 1)) return outcome;
            end = shape.subtree_end(node);
            ++node;
        } else {
            sub->reject(token, law);
            node = shape.subtree_end(node);
        }
    }
    const Drawn drawn = sub->draw(trial.coins.at(Purpose::last, 0));
    outcome.fault = sub->fault(drawn);
    outcome.last = sub->is_residual() ? Last::recovered : Last::bonus;
    outcome.token = static_cast<Token>(drawn.index);
    return outcome;
}

}  // namespace specsample

// The input of a rule (RoundContext), its result (Outcome), and the target's row at a node, checked as read (NodeRow).
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/tree/links.hpp>
#include <specsample/verify/kept_encoding.hpp>
#include <specsample/verify/lists.hpp>
#include <specsample/verify/ratio.hpp>
#include <specsample/verify/round.hpp>
#include <specsample/verify/rules.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace walks {

/// The draft of a round, as a rule sees it: nodes 0 .. K-1 below the root -1. Tokens are inside the vocabulary.
template <class Distributions>
struct DraftContext {
    const detail::Links& shape;      ///< the links of the tree
    std::span<const Token> tokens;   ///< the drafted tokens, one per node
    Distributions& distributions;    ///< what they were drawn from
    detail::RoundMemory& workspace;  ///< memory reused from round to round

    /// Return the drafted token of a node.
    Token token(Index node) const { return tokens[static_cast<std::size_t>(node)]; }
    /// Return what the walk remembers of a node.
    detail::RoundMemory::Node& state(Index node) const { return workspace.nodes[static_cast<std::size_t>(node + 1)]; }
};

}  // namespace walks

/// The input of a rule: the draft and the target's rows. Row 0 follows the prefix, row i + 1 follows node i.
template <class Distributions, class Rows, class Source>
struct RoundContext : walks::DraftContext<Distributions> {
    detail::TargetRows<Rows>& rows;  ///< the target's rows
    const Source& rng;               ///< the random numbers of the round
    const RoundLimits& limits;       ///< where the round ends
    Index vocab;                     ///< the number of ids

    /// Return the target's row after a node.
    auto row(Index node) const { return rows.row(node + 1); }

    /// Tell whether the text ends at a node, by a stop token or limits.until. The row after it is never asked for.
    bool ends(Index node) const { return this->workspace.endings.ends(drafted_text(), node); }
    /// Return the draft, and what ends the text.
    detail::DraftedText drafted_text() const { return {this->shape, this->tokens, limits.stop_tokens, limits.until}; }
};

namespace detail {

/// Check that a row of `size` entries is as long as the others.
inline std::optional<RowFault> check_size(Index size, Side side, Index number, Index vocab) {
    if (size == vocab && size > 0) return std::nullopt;
    RowFault fault{.side = side, .row = number, .value = static_cast<double>(size)};
    if (size == 0) return fault;
    fault.cause = Cause::wrong_size;
    fault.bound = static_cast<double>(vocab);
    return fault;
}

/// Check a view of a row: its size and ids always, all entries under Check::every_row.
/// @param sum   receives the sum of the row, if a pass found it
template <class View>
std::optional<RowFault> check_row(const View& view, Side side, Index number, Index vocab, Check check,
                                  double* sum = nullptr) {
    if (const auto bad = check_size(view.size(), side, number, vocab)) return bad;
    if (check != Check::every_row) return inspect_ids(view, side, number);
    const auto bad = inspect_view(view, side, number, sum);
    return bad ? bad : inspect_kind(view, side, number);
}

/// Tell whether a row was refused, or has logits whose normaliser shows that they are no distribution.
template <class View>
bool is_known_bad(const View& view) {
    if constexpr (is_entries_row<View>)
        return view.functor().encoding().is_bad() || view.functor().encoding().is_refused();
    else
        return false;
}

/// The view of a row that is split over several ranks.
template <class View>
concept SharedView = Blocks<View>::is_split;

/// Fetch the entry of an id before it is read, if the row is split over ranks.
template <class View>
void fetch(const View& view, Token id) {
    if constexpr (SharedView<View>) view.functor().numbers().fetch(id);
}

/// Fetch a whole draft row before it is subtracted from the target's, if ranks have split the two in different ways.
template <class P, class Q>
void fetch_beside(const P& target, const Q& draft) {
    if constexpr (SharedView<P> && SharedView<Q>) draft.functor().numbers().fetch_beside(target.functor().numbers());
}

/// Read a row as probabilities. The normaliser of logits is kept with the node, because a walk may come back to it.
/// @param sums   receives the running sums of the row, if a pass finds the normaliser
template <class Held>
auto read_once(const Held& held, RoundMemory::Node& node, [[maybe_unused]] kernels::RunningSums* sums = nullptr) {
    constexpr RowForm form = form_of<std::remove_cvref_t<decltype(held.row())>>;
    if constexpr (form.logits && !form.split) {
        return read_kept(held.row(), node.row, sums);
    } else {
        return held.view();
    }
}

/// Check that `mass`, the entry of `token` in a row, can be a probability. In a draft row it must be above 0.
/// @param tolerance   the tolerance of the row
inline std::optional<RowFault> check_entry(double tolerance, double mass, Token token, Side side, Index number) {
    RowFault fault{.side = side, .row = number, .value = mass, .bound = 1 + tolerance, .id = token};
    if (!is_finite(mass)) {
        fault.cause = Cause::not_finite;
    } else if (mass < 0) {
        fault.cause = Cause::negative;
    } else if (mass > fault.bound) {
        fault.cause = Cause::above_one;
    } else if (mass == 0 && side == Side::draft) {
        fault.cause = Cause::zero_at_token;
    } else {
        return std::nullopt;
    }
    return fault;
}

/// Check the row behind a distribution, and its entry at the token drawn from it.
/// @param rest   receives the sum of the weights, if a pass found it
template <DraftDistribution L>
std::optional<RowFault> check_distribution(const L& distribution, Token token, Index node, Index vocab, Check check,
                                           double* rest = nullptr) {
    if constexpr (RowDistribution<L>) {
        if (distribution.is_point()) return std::nullopt;
        if (const auto bad = check_row(distribution.row(), Side::draft, node, vocab, Check::entries_read)) return bad;
        if constexpr (requires { distribution.change(token, node); })
            if (const auto bad = distribution.change(token, node)) return bad;
        double* const sum = distribution.without().empty() ? rest : nullptr;
        if (check == Check::every_row)
            if (const auto bad = check_row(distribution.row(), Side::draft, node, vocab, check, sum)) return bad;
        if (is_known_bad(distribution.row())) return kernels::inspect(distribution.row(), Side::draft, node);
        fetch(distribution.row(), token);
        const double weight = distribution.weight(token);
        if (weight == 0 && distribution.rest() < least_rest) return std::nullopt;  // counts as a point mass
        return check_entry(tolerance_of(distribution.row()), weight, token, Side::draft, node);
    } else {
        return std::nullopt;
    }
}

}  // namespace detail

namespace walks {

/// The target's row after a node, held while a walk stands there, and the first fault found in it.
template <class T>
class NodeRow {
    using Held = decltype(std::declval<const T&>().row(root_node));

  public:
    using View = decltype(std::declval<const Held&>().view());
    static constexpr detail::RowForm form =
        detail::form_of<std::remove_cvref_t<decltype(std::declval<const Held&>().row())>>;

    NodeRow(const T& context, Index node) : context_(context), node_(node), held_(context.row(node)) {
        // Supplied rows were checked in full before the walk, if that was asked for.
        const bool in_full = !context.rows.are_supplied() && context.limits.check == Check::every_row;
        fault_ = detail::check_size(held_.size(), Side::target, node + 1, context.vocab);
        if (fault_) return;
        if constexpr (form.listed) fault_ = inspect_ids(row().ids(), context.vocab, Side::target, node + 1);
        bool is_suspect = in_full;
        if constexpr (form.listed) is_suspect = is_suspect || row().is_refused();
        if (is_suspect && !fault_) blame_row();
        if (in_full && !fault_) fault_ = detail::inspect_kind(view(), Side::target, node + 1);
    }

    const T& context() const { return context_; }
    Index node() const { return node_; }
    /// Return the first fault found, if any.
    const std::optional<RowFault>& fault() const { return fault_; }

    /// Return the row as it was given.
    const auto& row() const { return held_.row(); }

    /// Return the row's probabilities.
    /// @cost   a pass over logits whose normaliser is not stated, once in a round
    const View& view() {
        if (!view_) {
            view_.emplace(detail::read_once(held_, context_.state(node_), &sums_));
            if (detail::is_known_bad(*view_)) blame_row();
        }
        return *view_;
    }

    /// Make the ratio of a child exact. There is nothing to do where rows are judged as stored: they have no slack.
    void weigh(Index) {}

    /// Record a fault, unless there is one already.
    void blame(const std::optional<RowFault>& fault) {
        if (!fault_) fault_ = fault;
    }

    /// Record what is wrong with the row, if anything is.
    void blame_row() { blame(kernels::inspect(view(), Side::target, node_ + 1)); }

    /// Return the row's sum S, which is found once in a round.
    /// @cost   a pass, unless it is known
    double sum() {
        double& sum = context_.state(node_).sum;
        if (sum > 0) return sum;
        sum = detail::sum_deviation(view()) == 0 ? 1 : sums().total;
        if (!detail::may_sum_to(view(), sum)) blame_row();
        return sum;
    }
    /// Return the running sums of the row, from which tokens are drawn without another pass.
    /// @cost   a pass, unless one over logits has found their normaliser
    const kernels::RunningSums& sums() {
        if (sums_.count == 0) sums_.sum(kernels::RowWeights<View>(view()));
        return sums_;
    }
    /// Check the entry p(x) of a token, and return it.
    double entry(Token token) {
        detail::fetch(view(), token);
        const double mass = static_cast<double>(view().coeff(token));
        blame(detail::check_entry(detail::tolerance_of(view()), mass, token, Side::target, node_ + 1));
        return mass;
    }

    /// Check the distribution of a child, and return it.
    auto distribution(Index child) {
        const auto distribution = detail::distribution_at(context_.distributions, child);
        if constexpr (detail::RowDistribution<std::remove_cvref_t<decltype(distribution)>>)
            if (!distribution.is_point()) detail::fetch_beside(view(), distribution.row());
        blame(detail::check_distribution(distribution, context_.token(child), child, context_.vocab,
                                         Check::entries_read));
        return distribution;
    }

    /// Draw a token from the row. Logits are not normalised for it.
    /// @cost   one pass
    template <class Rng>
    kernels::Drawn draw_from_row(const Rng& random) {
        if constexpr (form.logits) {
            const kernels::Drawn drawn = specsample::draw(random, row().weights());
            if (drawn.index < 0 || !(row().has_logits() || detail::may_sum_to(view(), drawn.sum))) blame_row();
            return drawn;
        } else {
            const kernels::Drawn drawn = specsample::draw(random, kernels::RowWeights(view()));
            // A whole row must add up to 1.
            if (drawn.index < 0 || !detail::may_sum_to(view(), drawn.sum)) blame_row();
            return drawn;
        }
    }

    /// Draw a token from what is left of the row. Some row is bad if no part of a distribution can have the sum, or if
    /// the token drawn is impossible: only a negative entry of a draft row can give it a positive residual.
    /// @param blame   called to record which row is bad
    /// @edge          nothing is left, by rounding only: the token is drawn from the row, which is then exact
    template <class Rng, class W, class Blame>
    kernels::Drawn draw_from_rest(const Rng& random, const W& rest, const Blame& blame) {
        const kernels::Drawn drawn = specsample::draw(random, rest);
        if (detail::is_zero(drawn.sum)) return draw_from_row(random);
        const bool is_part =
            detail::is_finite(drawn.sum) && drawn.sum > 0 && drawn.sum <= 1 + detail::tolerance_of(view());
        if (is_part && drawn.index >= 0 && view().coeff(drawn.index) > 0) return drawn;
        blame();
        return fault_ ? drawn : draw_from_row(random);
    }

  private:
    const T& context_;
    Index node_;
    Held held_;
    std::optional<View> view_;
    kernels::RunningSums sums_;
    std::optional<RowFault> fault_;
};

}  // namespace walks

}}  // namespace specsample

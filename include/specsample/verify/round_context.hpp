// What a walk is given, what it decides, and how the data on its way is checked.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <specsample/core/rows.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/tree/chain.hpp>
#include <specsample/verify/distributions.hpp>
#include <specsample/verify/round.hpp>

namespace specsample {

/// A draft before its judge: nodes 0 .. K-1 and the root -1, whose row is row 0. Tokens are inside the vocabulary.
template <class S, class Distributions, class Rows, class Source>
struct RoundContext {
    /// A row of the target, for as long as somebody stands on it.
    using Held = detail::RowRef<detail::Element<Rows>>;

    const S& shape;
    std::span<const Token> tokens;
    Distributions& distributions;
    Rows& rows;
    const Source& rng;
    const RoundLimits& limits;
    Index vocab;
    Workspace& workspace;
    std::optional<Held>& first;  ///< row 0, until somebody takes it: the vocabulary was read off it

    /// The target's row at a node. A computed row costs a model's pass or a shaping: none is asked for twice on a way
    /// down.
    Held row(Index node) const {
        if (node != root_node || !first) return Held(detail::element(rows, node + 1));
        Held row(std::move(*first));
        first.reset();
        return row;
    }

    Token token(Index node) const { return tokens[static_cast<std::size_t>(node)]; }
    /// A walk's notes on a node.
    Workspace::Node& state(Index node) const { return workspace.nodes[static_cast<std::size_t>(node + 1)]; }
};

/// What a walk decided.
struct Outcome {
    Index node = root_node;  ///< the end of the accepted path
    Index accepted = 0;      ///< its length
    LastToken last = LastToken::stopped;
    Token token = 0;  ///< the last token, unless stopped
    std::optional<RowFault> fault{};
};

namespace detail {

/// Is a row of `size` entries as long as the others?
inline std::optional<RowFault> check_size(Index size, Side side, Index number, Index vocab) {
    if (size == vocab && size > 0) return std::nullopt;
    RowFault fault{.side = side, .row = number, .value = static_cast<double>(size)};
    if (size == 0) return fault;
    fault.cause = Cause::wrong_size;
    fault.bound = static_cast<double>(vocab);
    return fault;
}

/// Look at a view of a row as far as `check` asks: at its size and ids always, at all of it under Check::every_row.
template <class View>
std::optional<RowFault> check_row(const View& view, Side side, Index number, Index vocab, Check check) {
    if (const auto bad = check_size(view.size(), side, number, vocab)) return bad;
    return check == Check::every_row ? kernels::inspect(view, side, number) : inspect_ids(view, side, number);
}

/// Is this a row of logits that are no distribution, which their normaliser has told, or one that was refused?
template <class View>
bool is_known_bad(const View& view) {
    if constexpr (is_entries_row<View>) {
        return view.functor().encoding().is_bad() || view.functor().encoding().is_refused();
    } else {
        return false;
    }
}

/// Can `mass`, the entry of `token` in a row seen as View, be a probability? A token's own distribution must give it
/// some.
template <class View>
std::optional<RowFault> check_entry(double mass, Token token, Side side, Index number) {
    RowFault fault{.side = side, .row = number, .value = mass, .bound = 1 + tolerance_of<View>, .id = token};
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

/// The row behind a distribution, and its entry at the token drawn from it.
template <DraftDistribution L>
std::optional<RowFault> check_distribution(const L& distribution, Token token, Index node, Index vocab, Check check) {
    if constexpr (RowDistribution<L>) {
        if (distribution.is_point()) return std::nullopt;
        if (const auto bad = check_row(distribution.row(), Side::draft, node, vocab, check)) return bad;
        if (is_known_bad(distribution.row())) return kernels::inspect(distribution.row(), Side::draft, node);
        using View = std::remove_cvref_t<decltype(distribution.row())>;
        return check_entry<View>(distribution.weight(token), token, Side::draft, node);
    } else {
        return std::nullopt;
    }
}

}  // namespace detail

namespace walks {

/// The target's row at a node, for as long as a walk stands on it, and the first thing found wrong there.
template <class T>
class NodeRow {
    using Held = typename T::Held;

  public:
    using View = decltype(std::declval<const Held&>().view());

    NodeRow(const T& context, Index node) : context_(context), node_(node), held_(context.row(node)) {
        // Supplied rows were checked in full before the walk, where that was asked for.
        constexpr bool computed = !detail::is_supplied<std::remove_reference_t<decltype(context.rows)>>;
        const bool in_full = computed && context.limits.check == Check::every_row;
        fault_ = detail::check_size(held_.size(), Side::target, node + 1, context.vocab);
        if (fault_) return;
        if constexpr (requires { row().ids(); })
            fault_ = detail::inspect_ids(row().ids(), context.vocab, Side::target, node + 1);
        bool is_suspect = in_full;
        if constexpr (requires { row().is_refused(); }) is_suspect = is_suspect || row().is_refused();
        if (is_suspect && !fault_) blame_row();
    }

    const T& context() const { return context_; }
    Index node() const { return node_; }
    const std::optional<RowFault>& fault() const { return fault_; }

    /// The row as it was given.
    const auto& row() const { return held_.row(); }

    /// Its probabilities. Logits are normalised when these are first asked for.
    const View& view() {
        if (!view_) {
            view_.emplace(held_.view());
            if (detail::is_known_bad(*view_)) blame_row();
        }
        return *view_;
    }

    /// Remember the first fault.
    void blame(const std::optional<RowFault>& fault) {
        if (!fault_) fault_ = fault;
    }

    /// Remember what is wrong with the row, if anything is.
    void blame_row() { blame(kernels::inspect(view(), Side::target, node_ + 1)); }

    /// p(x), checked.
    double entry(Token token) {
        const double mass = static_cast<double>(view().coeff(token));
        blame(detail::check_entry<View>(mass, token, Side::target, node_ + 1));
        return mass;
    }

    /// The distribution of a child, checked.
    auto distribution(Index child) {
        const auto distribution = detail::distribution_at(context_.distributions, child);
        blame(detail::check_distribution(distribution, context_.token(child), child, context_.vocab,
                                         Check::entries_read));
        return distribution;
    }

    /// Draw from the row itself: from logits as they are, in one pass.
    template <class Rng>
    kernels::Drawn draw_from_row(const Rng& random) {
        if constexpr (requires { row().weights(); }) {
            const kernels::Drawn drawn = specsample::draw(random, row().weights());
            if (drawn.index < 0) blame_row();
            return drawn;
        } else {
            const kernels::Drawn drawn = specsample::draw(random, kernels::RowWeights(view()));
            // A whole row must add up to 1.
            if (drawn.index < 0 || !(std::abs(drawn.sum - 1) <= detail::tolerance_of<View>)) blame_row();
            return drawn;
        }
    }

    /// Draw from what is left of the row. A sum that is no part of a distribution has a bad row behind it, and so has a
    /// token that is impossible: it can be residual only where a distribution takes a negative number off.
    /// @param blame   called then, to say which row
    /// @edge          nothing is left, which happens by rounding only: drawn from the row, which is then exact
    template <class Rng, class W, class Blame>
    kernels::Drawn draw_from_rest(const Rng& random, const W& rest, const Blame& blame) {
        const kernels::Drawn drawn = specsample::draw(random, rest);
        if (detail::is_zero(drawn.sum)) return draw_from_row(random);
        const bool is_part =
            detail::is_finite(drawn.sum) && drawn.sum > 0 && drawn.sum <= 1 + detail::tolerance_of<View>;
        if (is_part && drawn.index >= 0 && view().coeff(drawn.index) > 0) return drawn;
        blame();
        return fault_ ? drawn : draw_from_row(random);
    }

  private:
    const T& context_;
    Index node_;
    Held held_;
    std::optional<View> view_;
    std::optional<RowFault> fault_;
};
}  // namespace walks

}  // namespace specsample

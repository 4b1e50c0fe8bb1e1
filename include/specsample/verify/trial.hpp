// What a walk is given, what it decides, and how the data on its way is checked.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include <specsample/kernels/inspect.hpp>
#include <specsample/proposal/chain.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/verify/laws.hpp>
#include <specsample/verify/round.hpp>

namespace specsample {

/// A draft before its judge: nodes 0 .. K-1 and the root -1, whose row is row 0. Tokens are inside the vocabulary.
template <class S, class Laws, class Rows, class Source>
struct Trial {
    const S& shape;
    std::span<const Token> tokens;
    Laws& laws;
    Rows& rows;
    const Source& coins;
    const RoundLimits& limits;
    Index vocab;
    Workspace& workspace;

    Token token(Index node) const { return tokens[static_cast<std::size_t>(node)]; }
    /// A walk's notes on a node.
    Workspace::Node& state(Index node) const { return workspace.nodes[static_cast<std::size_t>(node + 1)]; }
};

/// What a walk decided.
struct Outcome {
    Index node = root_node;  ///< the end of the accepted path
    Index accepted = 0;      ///< its length
    Last last = Last::stopped;
    Token token = 0;  ///< the last token, unless stopped
    std::optional<RowFault> fault{};
};

namespace detail {

/// Look at a row as far as `check` asks: at its size always, at all of it under Check::every_row.
template <Row R>
std::optional<RowFault> check_row(const R& row, Party party, Index number, Index vocab, Check check) {
    if (row.size() == 0) return RowFault{.party = party, .cause = Cause::empty, .row = number};
    if (row.size() != vocab)
        return RowFault{.party = party,
                        .cause = Cause::wrong_size,
                        .row = number,
                        .value = static_cast<double>(row.size()),
                        .bound = static_cast<double>(vocab)};
    return check == Check::every_row ? inspect(row, party, number) : std::nullopt;
}

/// Can `mass`, the entry of `token` in a row of these scalars, be a probability? A token's own law must give it some.
template <Floating Scalar>
std::optional<RowFault> check_entry(double mass, Token token, Party party, Index number) {
    RowFault fault{.party = party, .row = number, .value = mass, .bound = 1 + sum_tolerance<Scalar>, .id = token};
    if (!is_finite(mass)) {
        fault.cause = Cause::not_finite;
    } else if (mass < 0) {
        fault.cause = Cause::negative;
    } else if (mass > fault.bound) {
        fault.cause = Cause::above_one;
    } else if (mass == 0 && party == Party::draft) {
        fault.cause = Cause::zero_at_token;
    } else {
        return std::nullopt;
    }
    return fault;
}

/// The row behind a law, and its entry at the token drawn from it.
template <Law L>
std::optional<RowFault> check_law(const L& law, Token token, Index node, Index vocab, Check check) {
    if constexpr (RowLaw<L>) {
        if (law.is_point()) return std::nullopt;
        if (const auto bad = check_row(law.row(), Party::draft, node, vocab, check)) return bad;
        using Scalar = row_scalar_t<decltype(law.row())>;
        return check_entry<Scalar>(law.weight(token), token, Party::draft, node);
    } else {
        return std::nullopt;
    }
}

}  // namespace detail

/// The target's row at a node, for as long as a walk stands on it, and the first thing found wrong there.
template <class T>
class NodeRow {
    using Held = detail::HeldRow<detail::Element<std::remove_reference_t<decltype(std::declval<const T&>().rows)>>>;

  public:
    using View = decltype(std::declval<const Held&>().view());

    NodeRow(const T& trial, Index node)
        : trial_(trial), node_(node), held_(detail::element(trial.rows, node + 1)), view_(held_.view()) {
        // Supplied rows were checked in full before the walk, where that was asked for.
        const bool computed = !detail::is_supplied<std::remove_reference_t<decltype(trial.rows)>>;
        const Check check = computed ? trial.limits.check : Check::entries_read;
        fault_ = detail::check_row(view_, Party::target, node + 1, trial.vocab, check);
    }

    const T& trial() const { return trial_; }
    Index node() const { return node_; }
    const View& view() const { return view_; }
    const std::optional<RowFault>& fault() const { return fault_; }

    /// Remember the first fault.
    void blame(const std::optional<RowFault>& fault) {
        if (!fault_) fault_ = fault;
    }

    /// p(x), checked.
    double entry(Token token) {
        const double mass = static_cast<double>(view_.coeff(token));
        blame(detail::check_entry<typename View::Scalar>(mass, token, Party::target, node_ + 1));
        return mass;
    }

    /// The law of a child, checked.
    auto law(Index child) {
        const auto law = detail::law_at(trial_.laws, child);
        blame(detail::check_law(law, trial_.token(child), child, trial_.vocab, Check::entries_read));
        return law;
    }

    /// Draw from the row itself.
    template <class Coin>
    Drawn draw_from_row(const Coin& coin) {
        return checked(specsample::draw(coin, RowWeights(view_)));
    }

  protected:
    /// A whole row must add up to 1.
    Drawn checked(const Drawn& drawn) {
        if (drawn.index < 0 || std::abs(drawn.sum - 1) > sum_tolerance<typename View::Scalar>)
            blame(inspect(view_, Party::target, node_ + 1));
        return drawn;
    }

  private:
    const T& trial_;
    Index node_;
    Held held_;
    View view_;
    std::optional<RowFault> fault_;
};

}  // namespace specsample

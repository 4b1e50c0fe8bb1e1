// The residual target: what is left of the target's row at a node of a drafted tree. All ratio walks share this state.
//
// A walk enters a node with s = c p, where p is the node's row and c is in (0, 1]; c = 1 if the path to the node is
// certain. The child (x, Q) is accepted with probability min(1, s(x) / Q(x)), and rejecting it leaves
//
//     s  <-  max(0, s - Q) / d,     d = 1 - sum_y min(s(y), Q(y))
//
// Several rejections are one maximum, since no distribution is negative. With D the product of all d so far,
//
//     s = c o / D,      o = max(0, p - sum_k (D_k / c) Q_k),     D_k the D before rejection k
//     D = T + 1 - c,    T = c sum o
//
// because D - T never changes: it is the mass that is left to the nodes above. So a node needs c and one number per
// rejected child. Nothing of the size of the vocabulary is stored, and the mass of s is w = T / D.
//
// Rows of few bits do not add up to 1, so walks judge the normalised row p / S, and Q = weight / rest. The sum of a row
// is known to be within a tolerance of 1, which is enough for nearly every acceptance of a first child. The row is
// summed only for the other acceptances and for residuals. The code computes o from the stored entries of p, so its o
// is S times larger.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/residual.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/verify/kept_residual.hpp>
#include <specsample/verify/ratio.hpp>
#include <specsample/verify/rejected_children.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

/// The ids per attempt of a draw by rejection. An attempt costs a block, so that the attempts of a vocabulary together
/// cost about as much as the pass that draws without them. In a small one the pass costs less than an attempt.
inline constexpr Index ids_per_attempt = 2048;

/// The residual target of the node where a walk stands. The state of each node is kept in the workspace, so that a walk
/// can come back to the node.
///
/// @tparam keeps   whether what a rejection leaves of a row is kept in the workspace for the next one there. A walk
///                 from the leaves up wants this: it rejects most siblings of a draft, a walk from the root down few
template <class T, bool keeps = false>
class ResidualTarget : public NodeRow<T> {
    using Rejected = RejectedChildren<std::remove_reference_t<decltype(std::declval<const T&>().distributions)>>;
    using L = typename Rejected::Distribution;
    static_assert(
        detail::RatioDistribution<L>,
        "specsample::verify: a token that was drawn with the target's own noise (SharedNoise) has no ratio; judge "
        "it by a match rule (GumbelMatch), or draw it with Purpose::draft and give Sampled{row}");

    using View = typename NodeRow<T>::View;
    using Residual = kernels::ResidualWeights<View, typename detail::RowBehind<L, View>::type, Rejected>;

  public:
    /// Enter a node with s = c p.
    ResidualTarget(const T& context, Index node, double c = 1) : NodeRow<T>(context, node), rejected_(context, node) {
        state().enter(c);
        if (keeps && context.workspace.kept_node == node) context.workspace.kept_rejections = 0;
    }

    /// Selects the constructor that comes back to a node after a child of the node was rejected.
    struct Return {};
    ResidualTarget(const T& context, Index node, Return) : NodeRow<T>(context, node), rejected_(context, node) {
        rejected_.read_last();
    }

    ResidualTarget(const ResidualTarget&) = delete;

    /// Return the acceptance probability of the next child, min(1, s(x) / Q(x)), with a slack if sums are not known.
    /// @cost   O(1) once logits are normalised. One pass if the child rejected before this one was drawn from a row,
    ///         and one if this child was drawn from a row with ids removed and an unknown sum
    Ratio ratio(Index child) {
        const Token token = this->context().token(child);
        const double mass = this->entry(token);
        const L distribution = this->distribution(child);
        if (this->fault()) return {};  // the draft row may be too short to be read
        // At most p, because a negative entry of a draft row would give an impossible token a residual.
        const double residual = std::min(mass, left().residual_at(token));
        const double denominator = this->denominator();
        const RoughSum sum = rough_sum();
        RoughSum rest = rough_rest(child, distribution);
        double weight = distribution.weight(token);
        if (rest.value < detail::least_rest) rest = {1, 0}, weight = 1;
        return {state().c * residual * rest.value, weight * denominator * sum.value, sum.slack_beside(rest)};
    }

    /// Find the sums of the node's row and of a child's distribution, so that the child's ratio has no slack.
    /// @cost   one pass per sum that is not known yet
    void weigh(Index child) {
        const L distribution = this->distribution(child);
        if (this->fault()) return;
        sum();
        rest(child, distribution);
    }

    /// Reject a child: s <- max(0, s - Q) / d.
    void reject(Index child) {
        State& at = state();
        const double d = denominator();
        const double residual = left().residual_at(this->context().token(child));
        at.rejected = static_cast<int>(child);
        rejected_.read_last();
        State& rejected = this->context().state(child);
        rejected.is_point =
            rejected_.last().is_point() || rough_rest(child, rejected_.last()).value < detail::least_rest;
        rejected.factor = rejected.is_point ? 0 : -d;
        // If a point mass is rejected as the last child, the last token is drawn without the row's sum.
        if (rejected.is_point && this->context().shape.next_sibling(child) != no_node) sum();
        at.is_summed = rejected.is_point && at.is_summed && at.sum > 0;
        if (at.is_summed) at.residual = std::max(0.0, at.residual - detail::rounded(at.c * residual / at.sum));
        left_sums_.reset();
    }

    /// Return the row's sum S.
    /// @cost   a pass, unless it is known
    double sum() { return NodeRow<T>::sum(); }

    /// Tell whether a child has been rejected, so that the last token is a recovered one.
    bool is_residual() const { return !rejected_.empty(); }

    /// Return the probability that the node is accepted after its last child was rejected: w = T / D.
    Ratio mass() { return {residual(), denominator()}; }

    /// Draw a token from s.
    ///
    /// Where the sums of s are not known yet, s is drawn from by rejection, because it is the row thinned out: a token
    /// that is drawn from the row is kept with probability o / p, and otherwise another one is drawn. A walk that gets
    /// here has rejected with the probability that an attempt fails, so that it expects one attempt per position at
    /// most. An attempt reads a block of the row and an entry of each rejected child's; the pass reads all of them.
    ///
    /// @draws   one. By rejection two per attempt, in lanes 0, 1; 2, 3; .., and the next lane if all attempts fail
    /// @cost    one pass over the row if its sums are not known, and a block per attempt; one pass over the row and the
    ///          rejected children's if all attempts fail, or the vocabulary is too small for any
    /// @edge    s is empty, by rounding only (p = Q after a rejection): the token is drawn from p, which is then exact
    /// @source  von Neumann: "Various techniques used in connection with random digits", 1951 (rejection sampling)
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        if (!is_residual()) return this->draw_from_row(rng);
        const auto blame = [this] { blame_rows(); };
        if constexpr (requires { rng.from(std::uint32_t{}); }) {  // an RNG with many numbers
            const auto attempts = static_cast<std::uint32_t>(left_sums_ ? 0 : this->context().vocab / ids_per_attempt);
            if (const Index kept = draw_by_rejection(rng, attempts); kept >= 0) return {kept, sum()};
            return this->draw_from_rest(rng.from(2 * attempts), left_sums(), blame);
        } else {
            return this->draw_from_rest(rng, left_sums(), blame);
        }
    }

  private:
    using State = detail::RoundMemory::Node;

    /// Draw from s by rejection.
    /// @returns   the token; -1 if all attempts fail, or if one meets a number that no probability can be, which the
    ///            pass names
    template <class Rng>
    Index draw_by_rejection(const Rng& rng, std::uint32_t attempts) {
        if (attempts == 0 || !(sum() > 0 && this->sums().total > 0)) return -1;
        const kernels::RowWeights<View> row(this->view());
        for (std::uint32_t lane = 0; lane < 2 * attempts && !this->fault(); lane += 2) {
            const Index place = this->sums().pick(row, rng.uniform(lane));
            if (place < 0) break;
            const auto token = static_cast<Token>(row.id(place));
            const double mass = this->entry(token);
            if (!fetch_rejected(token)) break;
            if (is_kept(rng.uniform(lane + 1), token, mass)) return token;
        }
        return -1;
    }

    /// Fetch a token's entry in the rows of the rejected children.
    /// @returns   whether all of them are in [0, 1]
    bool fetch_rejected(Token token) {
        bool are_good = true;
        if constexpr (detail::RowDistribution<L>) {
            rejected_.for_each([&](Index, const L& distribution) {
                if (!distribution.is_point()) detail::fetch(distribution.row(), token);
                const double weight = distribution.weight(token);
                if (!(weight >= 0 && weight <= 1)) are_good = false;
            });
        }
        return are_good;
    }

    /// Keep a token that was drawn from the row with probability o / p. If a first child was rejected, its row is
    /// summed for that only where the random number is near the ratio, as for an acceptance.
    /// @param u      in [0, 1)
    /// @param mass   p, the token's entry in the row
    bool is_kept(double u, Token token, double mass) {
        const Index child = state().rejected;
        const double d = -this->context().state(child).factor;
        if (d > 0 && child == this->context().shape.first_child(this->node())) {
            const RoughSum rest = rough_rest(child, rejected_.last());
            const double most = 1 + rest.slack_beside({1, 0});
            const double taken = d * sum() * rejected_.last().weight(token) / (state().c * rest.value);
            if (detail::is_accepted(u, mass - taken * most, mass)) return true;
            if (!detail::is_accepted(u, mass - taken / most, mass)) return false;
        }
        return detail::is_accepted(u, std::min(mass, left().residual_at(token)), mass);
    }

    /// Find the factor with which the child that was rejected last is subtracted: d S / (c rest).
    /// @cost   one pass per sum that is not known yet
    void settle() {
        if (rejected_.empty()) return;
        const Index child = state().rejected;
        double& factor = this->context().state(child).factor;
        if (factor >= 0) return;
        const double rest = this->rest(child, rejected_.last());
        factor = std::min(-factor * sum() / (state().c * rest), detail::largest_factor);
    }

    State& state() const { return this->context().state(this->node()); }

    /// Return T. If it is not known yet, this takes a pass, whose result the draw uses again.
    double residual() {
        State& at = state();
        if (!at.is_summed) {
            at.residual = detail::rounded(at.c * left_sums().total() / sum());
            at.is_summed = true;
            check_sum(left_sums().total());
        }
        return at.residual;
    }
    double denominator() { return residual() + (1 - state().c); }

    const kernels::BlockSums<Residual>& left_sums() {
        if (left_sums_) return *left_sums_;
        const Residual left = this->left();
        if constexpr (keeps && detail::RowDistribution<L> && !detail::SharedView<View>)
            if (const auto blocks = detail::kept_blocks(this->context(), this->node(), left))
                return left_sums_.emplace(left, *blocks);
        return left_sums_.emplace(left);
    }

    /// Return the weights o. For logits, this finds the normaliser first.
    Residual left() {
        settle();
        return {this->view(), rejected_};
    }

    /// Return what is known of the row's sum without a pass.
    RoughSum rough_sum() {
        if (state().sum > 0) return {state().sum, 0};
        return {1, detail::sum_deviation(this->view())};
    }

    /// Return the sum by which the weights of a child's distribution are divided.
    double rest(Index child, const L& distribution) {
        double& rest = this->context().state(child).rest;
        if (rest >= 0) return rest;
        rest = distribution.rest();
        if constexpr (detail::RowDistribution<L>)
            if (!distribution.is_point() &&
                (distribution.without().empty() ? !detail::may_sum_to(distribution.row(), rest)
                                                : !detail::is_finite(rest)))
                this->blame(kernels::inspect(distribution.row(), Side::draft, child));
        return rest;
    }

    /// Return what is known of that sum without a pass over a whole row. A row with ids removed is summed all the same.
    RoughSum rough_rest(Index child, const L& distribution) {
        if constexpr (detail::RowDistribution<L>) {
            const bool is_known = this->context().state(child).rest >= 0 || distribution.is_point() ||
                                  distribution.knows_rest() || !distribution.without().empty();
            if (!is_known && detail::sum_deviation(distribution.row()) > 0)
                return {1, detail::sum_deviation(distribution.row())};
        }
        return {rest(child, distribution), 0};
    }

    /// Blame the rows if no part of a distribution can have this sum.
    void check_sum(double sum) {
        if (detail::is_finite(sum) && sum >= 0 && sum <= 1 + detail::tolerance_of(this->view())) return;
        blame_rows();
    }

    /// Record what is wrong with the row, or with a draft row that was subtracted from it.
    void blame_rows() {
        this->blame_row();
        if constexpr (detail::RowDistribution<L>) {
            rejected_.for_each([&](Index child, const L& distribution) {
                if (!distribution.is_point()) this->blame(kernels::inspect(distribution.row(), Side::draft, child));
            });
        }
    }

    Rejected rejected_;
    std::optional<kernels::BlockSums<Residual>> left_sums_;
};

}  // namespace walks

}}  // namespace specsample

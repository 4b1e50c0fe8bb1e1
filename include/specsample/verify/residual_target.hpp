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
#include <specsample/verify/ratio.hpp>
#include <specsample/verify/round_context.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace walks {

/// The rejected children of a node, and what each of them subtracts from the node's row.
template <class Distributions>
class RejectedChildren {
  public:
    using Distribution =
        std::remove_cvref_t<decltype(detail::distribution_at(std::declval<Distributions&>(), Index{}))>;

    RejectedChildren(const DraftContext<Distributions>& draft, Index node) : draft_(draft), node_(node) {}

    bool empty() const { return last_child() == no_node; }
    /// Return the distribution of the child that was rejected last.
    const Distribution& last() const { return *last_; }

    /// Read the distribution of the child that was rejected last; in a chain, no other child is rejected.
    void read_last() {
        if (!empty()) last_.emplace(detail::distribution_at(draft_.distributions, last_child()));
    }

    /// Call f(child, distribution) for each rejected child, in order.
    template <class F>
    void for_each(F&& f) const {
        if (empty()) return;
        for (Index child = draft_.shape.first_child(node_); child != last_child();
             child = draft_.shape.next_sibling(child))
            f(child, detail::distribution_at(draft_.distributions, child));
        f(last_child(), last());
    }

    /// Call row(..) or point(..) for what each rejected child subtracts, as ResidualWeights takes it.
    template <class OfRow, class OfPoint>
    void each(OfRow&& row, OfPoint&& point) const {
        for_each([&](Index child, const Distribution& distribution) {
            if constexpr (detail::RowDistribution<Distribution>) {
                if (!draft_.state(child).is_point)
                    return row(distribution.row(), distribution.without(), draft_.state(child).factor);
            }
            point(draft_.token(child));
        });
    }

  private:
    Index last_child() const { return draft_.state(node_).rejected; }

    const DraftContext<Distributions>& draft_;
    Index node_;
    std::optional<Distribution> last_;
};

/// The residual target of the node where a walk stands. The state of each node is kept in the workspace, so that a walk
/// can come back to the node.
template <class T>
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
        const Token token = this->context().token(child);
        State& at = state();
        const double d = denominator();
        const double residual = left().residual_at(token);
        at.rejected = child;
        rejected_.read_last();
        State& rejected = this->context().state(child);
        const double rest = this->rest(child, rejected_.last());
        rejected.is_point = rejected_.last().is_point() || rest < detail::least_rest;
        // If a point mass is rejected as the last child, the last token is drawn without the row's sum.
        if (!rejected.is_point || this->context().shape.next_sibling(child) != no_node) sum();
        rejected.factor = rejected.is_point ? 0 : std::min(d * sum() / (at.c * rest), detail::largest_factor);
        at.is_summed = rejected.is_point && at.is_summed && at.sum > 0;
        if (at.is_summed) at.residual = std::max(0.0, at.residual - detail::rounded(at.c * residual / at.sum));
        sums_.reset();
    }

    /// Tell whether a child has been rejected, so that the last token is a recovered one.
    bool is_residual() const { return !rejected_.empty(); }

    /// Return the probability that the node is accepted after its last child was rejected: w = T / D.
    Ratio mass() { return {residual(), denominator()}; }

    /// Draw a token from s.
    /// @edge   s is empty, by rounding only (p = Q after a rejection): the token is drawn from p, which is then exact
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        if (!is_residual()) return this->draw_from_row(rng);
        return this->draw_from_rest(rng, sums(), [this] { blame_rows(); });
    }

  private:
    using State = detail::RoundMemory::Node;

    State& state() const { return this->context().state(this->node()); }

    /// Return T. If it is not known yet, this takes a pass, whose result the draw uses again.
    double residual() {
        State& at = state();
        if (!at.is_summed) {
            at.residual = detail::rounded(at.c * sums().total() / sum());
            at.is_summed = true;
            check_sum(sums().total());
        }
        return at.residual;
    }
    double denominator() { return residual() + (1 - state().c); }

    const kernels::BlockSums<Residual>& sums() {
        if (!sums_) sums_.emplace(left());
        return *sums_;
    }

    /// Return the weights o. For logits, this finds the normaliser first.
    Residual left() { return {this->view(), rejected_}; }

    double sum() { return NodeRow<T>::sum(); }
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
    std::optional<kernels::BlockSums<Residual>> sums_;
};

}  // namespace walks

}}  // namespace specsample

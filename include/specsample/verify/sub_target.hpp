// The sub-target: what the target still owes at a node of a draft. The state that all ratio walks share.
//
// A node is entered with s = c p, p its row and c in (0, 1]; c = 1 where the way to it is certain. The child (x, Q) is
// accepted with probability min(1, s(x) / Q(x)), and rejecting it leaves
//
//     s  <-  max(0, s - Q) / d,     d = 1 - sum_y min(s(y), Q(y))
//
// Several rejections are one maximum, since no law is negative. With D the product of all d so far,
//
//     s = c o / D,      o = max(0, p - sum_k (D_k / c) Q_k),     D_k the D before rejection k
//     D = T + 1 - c,    T = c sum o
//
// because D - T never changes: it is the mass that has escaped to the nodes above. So a node needs c, and one number
// per rejected child. Nothing of the size of the vocabulary is stored, and the mass of s is w = T / D.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/owed.hpp>
#include <specsample/random/draw.hpp>
#include <specsample/verify/trial.hpp>

namespace specsample {

/// A probability min(1, s / q), as `accept` takes it.
struct Ratio {
    double s = 0;
    double q = 1;
};

/// Where a walk stands: the sub-target of one node.
template <class T>
class SubTarget : public NodeRow<T> {
    using L = std::remove_cvref_t<decltype(detail::law_at(std::declval<const T&>().laws, Index{}))>;
    static_assert(RatioLaw<L>,
                  "specsample::verify: a token that was drawn with the target's own noise (Raced) has no ratio; judge "
                  "it by a match rule (GumbelMatch), or draw it with Purpose::draft and give Sampled{row}");

    using View = typename NodeRow<T>::View;
    using Owed = OwedWeights<View, typename detail::RowBehind<L, View>::type>;

  public:
    /// Enter a node with s = c p.
    SubTarget(const T& trial, Index node, double c = 1) : NodeRow<T>(trial, node) { state() = {.c = c, .owed = c}; }

    /// Come back to a node after its child was rejected.
    struct Return {};
    SubTarget(const T& trial, Index node, Return) : NodeRow<T>(trial, node) {
        if (is_residual()) last_.emplace(detail::law_at(trial.laws, state().rejected));
    }

    SubTarget(const SubTarget&) = delete;

    /// The chance of the next child: s(x) / Q(x).
    /// @cost  O(1); a pass where a child with a row was rejected before
    Ratio ratio(Index child) {
        const Token token = this->trial().token(child);
        const double mass = this->entry(token);
        const L law = this->law(child);
        if (this->fault()) return {};  // its row may be too short to be asked
        // Never more than p: a law with a negative number would make an impossible token owed.
        const double owed = std::min(mass, left().owed_to(token));
        return {state().c * owed * law.rest(), law.weight(token) * denominator()};
    }

    /// The child was rejected: s <- max(0, s - Q) / d.
    void reject(Index child) {
        const Token token = this->trial().token(child);
        State& at = state();
        const double d = denominator();
        const double owed = left().owed_to(token);
        last_.emplace(detail::law_at(this->trial().laws, child));
        // A limit that no probability can tell from infinity: 0 times that would be NaN.
        this->trial().state(child).factor = std::min(d / (at.c * last_->rest()), 1e30);
        at.rejected = child;
        if (last_->is_point()) {
            at.owed = std::max(0.0, at.owed - detail::rounded(at.c * owed));
        } else {
            at.is_summed = false;
        }
        sums_.reset();
    }

    /// Has a child been rejected, so that the last token is a recovered one?
    bool is_residual() const { return state().rejected != no_node; }

    /// The chance that the node is kept after its last child: w = T / D.
    Ratio mass() { return {owed(), denominator()}; }

    /// Draw a token from s.
    /// @edge   s is empty by rounding only (p = Q after a rejection): drawn from p, which is then exact
    template <class Coin>
    Drawn draw(const Coin& coin) {
        if (!is_residual()) return this->draw_from_row(coin);
        return this->draw_from_rest(coin, sums(), [this] { blame_rows(); });
    }

    /// What the rejected children take off, as OwedWeights asks for it.
    template <class OfRow, class OfPoint>
    void each(OfRow&& row, OfPoint&& point) const {
        for_rejected([&](Index child, const L& law) {
            if constexpr (RowLaw<L>) {
                if (!law.is_point()) return row(law.row(), law.without(), this->trial().state(child).factor);
            }
            point(this->trial().token(child));
        });
    }

  private:
    using State = Workspace::Node;

    State& state() const { return this->trial().state(this->node()); }

    /// T, by a pass where it is not known yet; that pass serves the draw as well.
    double owed() {
        State& at = state();
        if (!at.is_summed) {
            at.owed = detail::rounded(at.c * sums().total());
            at.is_summed = true;
            check_sum(sums().total());
        }
        return at.owed;
    }
    double denominator() { return owed() + (1 - state().c); }

    const BlockSums<Owed>& sums() {
        if (!sums_) sums_.emplace(left());
        return *sums_;
    }

    /// What is left of the row. Logits are normalised for it.
    Owed left() { return {this->view(), *this}; }

    template <class F>
    void for_rejected(F&& f) const {
        const T& trial = this->trial();
        const Index last = state().rejected;
        if (last == no_node) return;
        for (Index child = trial.shape.first_child(this->node()); child != last;
             child = trial.shape.next_sibling(child))
            f(child, detail::law_at(trial.laws, child));
        f(last, *last_);
    }

    /// What is owed is part of a distribution; a sum that is not one has a bad row behind it.
    void check_sum(double sum) {
        if (is_finite(sum) && sum >= 0 && sum <= 1 + detail::tolerance_of<View>) return;
        blame_rows();
    }

    /// Remember what is wrong with the row, or with one that was taken off it.
    void blame_rows() {
        this->blame_row();
        if constexpr (RowLaw<L>) {
            for_rejected([&](Index child, const L& law) {
                if (!law.is_point()) this->blame(inspect(law.row(), Party::draft, child));
            });
        }
    }

    std::optional<L> last_;  ///< the law of the child rejected last: in a chain, the only one
    std::optional<BlockSums<Owed>> sums_;
};

}  // namespace specsample

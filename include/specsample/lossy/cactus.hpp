// Cactus: a drafted token gets the probability that the target may give it within a divergence budget.
//
// Hao, Mou: "Cactus: accelerating auto-regressive decoding with constrained acceptance speculative sampling",
// ICLR 2026 (arXiv:2604.04987).
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/lossy/law.hpp>
#include <specsample/verify/commit.hpp>

namespace specsample {
namespace detail {

/// p + sqrt(2 delta p (1 - p)), at most 1: the second-order solution of KL(h || p) <= delta for one entry of h.
inline double lifted(double p, double delta) {
    return std::min(1.0, p + std::sqrt(2 * delta * std::max(0.0, p * (1 - p))));
}

/// What the others keep of p when one entry is lifted.
inline double kept_by_others(double p, double delta) { return p < 1 ? (1 - lifted(p, delta)) / (1 - p) : 0; }

/// Where a Cactus walk stands.
template <class T>
class CactusNode : public NodeRow<T> {
    using L = std::remove_cvref_t<decltype(law_at(std::declval<const T&>().laws, Index{}))>;
    static_assert(RatioLaw<L>,
                  "specsample::Cactus: a token that was drawn with the target's own noise (Raced) has no "
                  "ratio; draw it with Purpose::draft and give Sampled{row}");
    using View = typename NodeRow<T>::View;

  public:
    CactusNode(const T& trial, Index node, double delta) : NodeRow<T>(trial, node), delta_(delta) {}

    Ratio ratio(Index child) {
        mass_ = this->entry(this->trial().token(child));
        const L law = this->law(child);
        if (this->fault()) return {};
        return {lifted(mass_, delta_) * law.rest(), law.weight(this->trial().token(child))};
    }

    void reject(Index child) {
        rejected_ = child;
        scale_ = kept_by_others(mass_, delta_);
    }

    bool is_residual() const { return rejected_ != no_node; }

    /// Draw from max(0, h - q). That is in proportion to max(0, p - q / scale): the lifted entry is below its q, or it
    /// would have been accepted.
    template <class Coin>
    Drawn draw(const Coin& coin) {
        if (!is_residual()) return this->draw_from_row(coin);
        using Left = OwedWeights<View, typename RowBehind<L, View>::type>;
        return this->draw_from_rest(coin, Left(this->view(), *this), [this] {
            this->blame_row();
            if constexpr (RowLaw<L>)
                each([&](const auto& row, auto, double) { this->blame(inspect(row, Party::draft, rejected_)); },
                     [](Token) {});
        });
    }

    /// What the rejected child takes off, as OwedWeights asks for it.
    template <class OfRow, class OfPoint>
    void each(OfRow&& row, OfPoint&& point) const {
        const L law = law_at(this->trial().laws, rejected_);
        if constexpr (RowLaw<L>) {
            if (!law.is_point()) row(law.row(), law.without(), std::min(1 / (scale_ * law.rest()), 1e30));
        }
        if (law.is_point()) point(this->trial().token(rejected_));
    }

  private:
    double delta_;
    double mass_ = 0;   ///< p at the child that was judged last
    double scale_ = 1;  ///< of p in the residual of the last rejection
    Index rejected_ = no_node;
};

}  // namespace detail

/// Judge x by the target h_x, which is p with its entry at x lifted and the others scaled down for it:
///
///     h_x(x) = min(1, p(x) + sqrt(2 delta p(x) (1 - p(x)))),   h_x(y) = p(y) (1 - h_x(x)) / (1 - p(x))
///
/// Accept with probability min(1, h_x(x) / q(x)), else draw from max(0, h_x - q). The target depends on what was
/// drafted, so this is no transform: its law mixes the residuals of all x.
///
/// Made for one drafted token per position. On a tree every child is judged so by itself, and the last token is drawn
/// after the last of them.
///
/// @param delta   >= 0; 0 is lossless, with one token per position
/// Coins: those of token verification. Cost: O(1) per token and one pass over two rows where one is rejected.
struct Cactus {
    static constexpr bool lossless = false;

    double delta = 0;

    void check() const { detail::require_not_negative("Cactus", "delta", delta); }

    template <class Trial>
    Outcome operator()(const Trial& trial) const {
        check();
        return commit(trial, [&](Index node) { return detail::CactusNode<Trial>(trial, node, delta); });
    }

    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        const Eigen::ArrayXd lifted = at.p.unaryExpr([&](double x) { return detail::lifted(x, delta); });
        return (at.q > lifted).select(lifted / at.q, 1.0);
    }

    /// @cost O(V^2)
    template <Row Q, Row P>
    Eigen::ArrayXd law(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        const Eigen::ArrayXd r = chances(q, p);
        Eigen::ArrayXd law = at.q * r;
        for (Index x = 0; x < law.size(); ++x) {
            if (r[x] == 1) continue;
            const auto left = detail::left_over(at.p, detail::kept_by_others(at.p[x], delta), at.q);
            law += at.q[x] * (1 - r[x]) / left.sum() * left;
        }
        return law;
    }
};

}  // namespace specsample

// Cactus: a drafted token is judged by the largest probability that a row within a divergence budget of p gives it.
//
// Hao, Mou: "Cactus: accelerating auto-regressive decoding with constrained acceptance speculative sampling",
// ICLR 2026 (arXiv:2604.04987).
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The probability weight / rest of a drafted token in the distribution that it is judged by.
struct Chance {
    double weight = 1, rest = 1;  ///< the values for a point mass
};

/// @cost   O(1); a pass if the rest is not known
template <RatioDistribution L>
Chance chance_of(const L& distribution, Index token) {
    const double rest = distribution.rest();
    if (rest < least_rest) return {};
    return {distribution.weight(token), rest};
}

/// Compute min(1, p + sqrt(2 delta p (1 - p))): the largest entry of an h with KL(h || p) <= delta, to second order.
inline double lifted(double p, double delta) {
    return std::min(1.0, p + std::sqrt(2 * delta * std::max(0.0, p * (1 - p))));
}

/// Compute the factor on all other entries of the row when the entry p is lifted.
inline double kept_by_others(double p, double delta) { return p < 1 ? (1 - lifted(p, delta)) / (1 - p) : 0; }

/// A node of the Cactus walk.
template <class T>
class CactusNode : public walks::NodeRow<T> {
    using L = std::remove_cvref_t<decltype(distribution_at(std::declval<const T&>().distributions, Index{}))>;
    static_assert(RatioDistribution<L>,
                  "specsample::lossy::Cactus: a token that was drawn with the target's own noise (SharedNoise) has no "
                  "ratio; draw it with Purpose::draft and give Sampled{row}");
    using View = typename walks::NodeRow<T>::View;

  public:
    CactusNode(const T& context, Index node, double delta) : walks::NodeRow<T>(context, node), delta_(delta) {}

    walks::Ratio ratio(Index child) {
        mass_ = this->entry(this->context().token(child)) / this->sum();
        const L distribution = this->distribution(child);
        if (this->fault()) return {};
        const Chance chance = chance_of(distribution, this->context().token(child));
        return {lifted(mass_, delta_) * chance.rest, chance.weight};
    }

    void reject(Index child) {
        rejected_ = child;
        rest_ = distribution_at(this->context().distributions, child).rest();
        // A lift below 1 leaves the other entries at least 2^-53. The bound is for a lift of 1, which is rejected only
        // if q exceeds 1.
        factor_ = std::min(this->sum() / (kept_by_others(mass_, delta_) * rest_), largest_factor);
    }

    bool is_residual() const { return rejected_ != no_node; }

    /// Draw from max(0, h - q), which is proportional to max(0, p - q / scale). Both are 0 at the rejected token,
    /// because a token is rejected only where h is below q.
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        if (!is_residual()) return this->draw_from_row(rng);
        using Left = kernels::ResidualWeights<View, typename RowBehind<L, View>::type, CactusNode>;
        return this->draw_from_rest(rng, Left(this->view(), *this), [this] {
            this->blame_row();
            if constexpr (RowDistribution<L>)
                each([&](const auto& row, auto, double) { this->blame(kernels::inspect(row, Side::draft, rejected_)); },
                     [](Token) {});
        });
    }

    /// Give ResidualWeights the distribution of the rejected child, to subtract it.
    template <class OfRow, class OfPoint>
    void each(OfRow&& row, OfPoint&& point) const {
        const L distribution = distribution_at(this->context().distributions, rejected_);
        if constexpr (RowDistribution<L>) {
            if (!distribution.is_point() && !(rest_ < least_rest))  // a NaN is found when it is subtracted
                return row(distribution.row(), distribution.without(), factor_);
        }
        point(this->context().token(rejected_));
    }

  private:
    double delta_;
    double mass_ = 0;    ///< p at the child that was judged last
    double rest_ = 1;    ///< the mass left in the last rejected child's distribution
    double factor_ = 1;  ///< the factor on that distribution in the residual of p
    Index rejected_ = no_node;
};

}  // namespace detail

namespace lossy {

/// Judge x by the target h_x, which is p with its entry at x lifted and all others scaled down to make room:
///
///     h_x(x) = min(1, p(x) + sqrt(2 delta p(x) (1 - p(x)))),   h_x(y) = p(y) (1 - h_x(x)) / (1 - p(x))
///
/// Accept x with probability min(1, h_x(x) / q(x)), else draw from max(0, h_x - q). The substituted target depends on
/// the drafted token, so this is no `Transformed` rule: its distribution mixes the residuals of all x.
///
/// The rule is made for one drafted token per position. On a tree each child is judged alone; if all are rejected, the
/// last token is drawn from the residual of the last child.
///
/// @param delta   >= 0; 0 is lossless for one drafted token per position
/// @draws         as TokenVerification: one accept draw per token judged, one last-token draw
/// @cost          O(1) per token, and one pass over two rows after a rejection; plus one pass for each target row, and
///                two for each draft row, whose sum is not known
/// @source        Hao, Mou 2026, arXiv:2604.04987
struct Cactus {
    static constexpr bool lossless = false;

    double delta = 0;

    void check() const { detail::require_not_negative("Cactus", "delta", delta); }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return walks::top_down(context, [&](Index node) { return detail::CactusNode<Context>(context, node, delta); });
    }

    /// Compute for each id the probability that it is accepted once drafted.
    Eigen::ArrayXd chances(const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) const {
        check();
        const Eigen::ArrayXd lifted = p.unaryExpr([&](double x) { return detail::lifted(x, delta); });
        return (q > lifted).select(lifted / q, 1.0);
    }

    /// Compute the output distribution at one position, for one drafted token.
    /// @cost   O(V^2)
    Eigen::ArrayXd distribution(const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) const {
        const Eigen::ArrayXd r = chances(q, p);
        Eigen::ArrayXd distribution = q * r;
        for (Index x = 0; x < distribution.size(); ++x) {
            if (r[x] == 1) continue;
            const auto left = detail::left_over(p, detail::kept_by_others(p[x], delta), q);
            distribution += q[x] * (1 - r[x]) / left.sum() * left;
        }
        return distribution;
    }
};

}  // namespace lossy

}}  // namespace specsample

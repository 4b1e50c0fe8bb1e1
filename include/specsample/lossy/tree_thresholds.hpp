// Thresholds on trees of named tokens: SGLang's and FlashInfer's target-only tree sampling with its two knobs.
#pragma once

#include <algorithm>
#include <span>

#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/top_down.hpp>

namespace specsample {
namespace detail {

/// Where such a walk stands: `before` is the target's mass on the children that were tried.
template <class T, class Rule>
class ThresholdNode : public walks::NodeRow<T> {
    using View = typename walks::NodeRow<T>::View;

  public:
    ThresholdNode(const T& context, Index node, const Rule& rule) : walks::NodeRow<T>(context, node), rule_(rule) {}

    walks::Ratio ratio(Index child) {
        const Token token = this->context().token(child);
        mass_ = this->entry(token);
        each([](auto...) {}, [&](Token tried) { mass_ = tried == token ? 0 : mass_; });
        return rule_.chance(before_, mass_);
    }
    void reject(Index child) {
        before_ += mass_;
        rejected_ = child;
    }
    bool is_residual() const { return rejected_ != no_node; }

    /// Draw from p without the children that were tried.
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        using Left = kernels::ResidualWeights<View, View>;
        if (!is_residual()) return this->draw_from_row(rng);
        return this->draw_from_rest(rng, Left(this->view(), *this), [this] { this->blame_row(); });
    }

    /// The children that were tried, as ResidualWeights asks for them.
    template <class OfRow, class OfPoint>
    void each(OfRow&&, OfPoint&& point) const {
        if (rejected_ == no_node) return;
        const auto& shape = this->context().shape;
        for (Index child = shape.first_child(this->node());; child = shape.next_sibling(child)) {
            point(this->context().token(child));
            if (child == rejected_) return;
        }
    }

  private:
    const Rule& rule_;
    double before_ = 0;
    double mass_ = 0;
    Index rejected_ = no_node;
};

}  // namespace detail

namespace lossy {

/// One uniform u per node: accept the first child j with u <= S_j / accumulated, S_j the target's mass on the children
/// up to it, or with p(x_j) >= single; else draw from p without them.
///
/// Distributions are not looked at: children are judged as named tokens, which is lossless for any draft where both
/// are 1. The distribution of the accepted child is min(1, S_j / a) - min(1, S_{j-1} / a) where no child reaches
/// `single`. u is spelt as one random draw per child, which is accepted given that those before it were not. A repeated
/// sibling has nothing left.
///
/// @param single        in (0, 1]
/// @param accumulated   in (0, 1]
/// @draws one accept draw per child tried, and the last one. Cost: O(1) per child tried and one pass over one row.
struct TreeThresholds {
    static constexpr bool lossless = false;

    double single = 1;
    double accumulated = 1;

    void check() const {
        detail::require(single > 0 && single <= 1, "TreeThresholds", "single", single, "in (0, 1]");
        detail::require(accumulated > 0 && accumulated <= 1, "TreeThresholds", "accumulated", accumulated, "in (0, 1]");
    }

    /// The chance of a child of probability `mass`, given that none before it, of `before` together, was accepted.
    walks::Ratio chance(double before, double mass) const {
        if (mass >= single) return {1, 1};
        const double until = std::min(1.0, before / accumulated);
        return {std::min(1.0, (before + mass) / accumulated) - until, 1 - until};
    }

    template <class RoundContext>
    Outcome operator()(const RoundContext& context) const {
        check();
        return walks::top_down(context, [&](Index node) {
            return detail::ThresholdNode<RoundContext, TreeThresholds>(context, node, *this);
        });
    }

    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return at.p.unaryExpr([&](double mass) {
            const walks::Ratio alone = chance(0, mass);
            return std::min(1.0, alone.s / alone.q);
        });
    }

    /// The distribution at a node with these children, different ones.
    template <Row P>
    Eigen::ArrayXd distribution_of(const P& p, std::span<const Token> children) const {
        check();
        Eigen::ArrayXd left = detail::to_array(p);
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(left.size());
        double before = 0, reached = 1;
        for (const Token child : children) {
            const walks::Ratio given = chance(before, left[child]);
            const double accepted = given.s > 0 ? reached * std::min(1.0, given.s / given.q) : 0;
            before += left[child];
            distribution[child] += accepted;
            reached -= accepted;
            left[child] = 0;
        }
        if (!(left.sum() > 0)) left = detail::to_array(p);
        return distribution + std::max(0.0, reached) / left.sum() * left;
    }

    /// The distribution of one child that was drawn from q.
    /// @cost O(V^2)
    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(at.p.size());
        for (Index id = 0; id < distribution.size(); ++id) {
            const Token child = static_cast<Token>(id);
            distribution += at.q[id] * distribution_of(at.p, std::span(&child, 1));
        }
        return distribution;
    }
};
}  // namespace lossy

}  // namespace specsample

// Two thresholds on trees of named tokens: the target-only tree sampling of SGLang and FlashInfer.
#pragma once

#include <algorithm>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A node of the walk: `before_` is the target's mass on the rejected children.
template <class T, class Rule>
class ThresholdNode : public walks::NodeRow<T> {
    using View = typename walks::NodeRow<T>::View;

  public:
    ThresholdNode(const T& context, Index node, const Rule& rule) : walks::NodeRow<T>(context, node), rule_(rule) {}

    walks::Ratio ratio(Index child) {
        const Token token = this->context().token(child);
        mass_ = this->entry(token) / this->sum();
        each([](auto...) {}, [&](Token tried) { mass_ = tried == token ? 0 : mass_; });
        return rule_.chance(before_, mass_);
    }
    void reject(Index child) {
        before_ += mass_;
        rejected_ = child;
    }
    bool is_residual() const { return rejected_ != no_node; }

    /// Draw from p without the rejected children.
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        using Left = kernels::ResidualWeights<View, View, ThresholdNode>;
        if (!is_residual()) return this->draw_from_row(rng);
        return this->draw_from_rest(rng, Left(this->view(), *this), [this] { this->blame_row(); });
    }

    /// Enumerate the rejected children as point masses, which ResidualWeights subtracts.
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

/// Accept the first child j with u <= S_j / accumulated or p(x_j) >= single, else draw from p without the children.
///
/// u is one uniform number per node, and S_j the target's mass on the children up to j. This rule replaces u by one
/// accept draw per child, whose probability is conditional on the rejection of all earlier children.
///
/// Children are judged as named tokens: the distributions of the draft are not read. With both thresholds at 1 the rule
/// is lossless for any draft. If no child reaches `single`, child j is accepted with probability min(1, S_j /
/// accumulated) - min(1, S_{j-1} / accumulated). A repeated sibling has mass 0.
///
/// @param single        in (0, 1]
/// @param accumulated   in (0, 1]
/// @draws               one accept draw per child tried, one last-token draw
/// @cost                O(rejected siblings) per child tried, and one pass over one row for the last token; one more
///                      pass over each row of probabilities for its sum
struct TreeThresholds {
    static constexpr bool lossless = false;

    double single = 1;
    double accumulated = 1;

    void check() const {
        detail::require(single > 0 && single <= 1, "TreeThresholds", "single", single, "in (0, 1]");
        detail::require(accumulated > 0 && accumulated <= 1, "TreeThresholds", "accumulated", accumulated, "in (0, 1]");
    }

    /// Return the probability that a child of target probability `mass` is accepted after the rejection of earlier
    /// children whose probabilities sum to `before`.
    walks::Ratio chance(double before, double mass) const {
        if (mass >= single) return {1, 1};
        const double until = std::min(1.0, before / accumulated);
        return {std::min(1.0, (before + mass) / accumulated) - until, 1 - until};
    }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return walks::top_down(
            context, [&](Index node) { return detail::ThresholdNode<Context, TreeThresholds>(context, node, *this); });
    }

    /// Compute for each id the probability that it is accepted as the only child.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        return at.p.unaryExpr([&](double mass) { return chance(0, mass).probability(); });
    }

    /// Compute the output distribution at a node with these children.
    /// @param p          the target's probabilities
    /// @param children   distinct ids below the size of p
    template <RowLike P>
    Eigen::ArrayXd distribution_of(const P& p, std::span<const Token> children) const {
        check();
        Eigen::ArrayXd left = detail::to_array(p);
        Eigen::ArrayXd distribution = Eigen::ArrayXd::Zero(left.size());
        double before = 0, reached = 1;
        for (const Token child : children) {
            const double accepted = reached * chance(before, left[child]).probability();
            before += left[child];
            distribution[child] += accepted;
            reached -= accepted;
            left[child] = 0;
        }
        if (!(left.sum() > 0)) left = detail::to_array(p);
        return distribution + std::max(0.0, reached) / left.sum() * left;
    }

    /// Compute the output distribution at one position, for one child drawn from q.
    /// @cost   O(V^2)
    template <RowLike Q, RowLike P>
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

}}  // namespace specsample

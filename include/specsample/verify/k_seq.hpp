// K-SEQ: several independent drafts per position, all judged by the target's row divided by one constant.
//
// Sun et al.: "SpecTr: fast speculative decoding via optimal transport", NeurIPS 2023 (arXiv:2310.15141), Algorithm 2,
// Theorem 2.
#pragma once

#include <algorithm>
#include <cmath>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/residual.hpp>
#include <specsample/verify/ratio.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The constants of a node with n children drawn independently from q.
struct KSeqConstants {
    double rho = 1;     ///< a child x is accepted with probability min(1, p(x) / (rho q(x)))
    double factor = 0;  ///< P_acc / beta: the children together emit factor * min(q, p / rho)
};

/// A threshold that was looked at.
struct KSeqThreshold {
    double rho;
    double beta;      ///< sum min(q, p / rho)
    double accepted;  ///< 1 - (1 - beta)^n
    double excess;    ///< accepted - rho beta: at most 0 where the residual is not negative
};

/// Find the smallest rho at which the residual is not negative:
/// (1 - (1 - beta)^n) <= rho beta, beta = sum min(q, p / rho).
/// @param rest, sum   the sums of q and p, by which both are divided
/// @cost              some 7 passes over two rows, seldom more than 14, at most 26; none if n = 1
/// @accuracy          the rho found is valid, so the rule is exact, and its excess is above -2^-22, so hardly less is
///                    accepted
template <class Q, class P>
KSeqConstants solve_k_seq(const Q& q, double rest, const P& p, double sum, Index n) {
    if (n == 1) return {1, 1};
    const auto look = [&](double rho) {
        // rho min(q, p / rho) = p - max(0, p - rho q)
        const double taken = 1 - kernels::total_of(kernels::ResidualWeights(p, q, sum * rho / rest)) / sum;
        const double beta = std::max(0.0, taken / rho), accepted = 1 - std::pow(1 - beta, static_cast<double>(n));
        return KSeqThreshold{rho, beta, accepted, accepted - rounded(rho * beta)};
    };
    // Regula falsi towards an excess of -aim; an end that stays twice counts half (the Illinois method).
    constexpr double aim = 0x1p-23;
    KSeqThreshold low = look(1), high = low;
    if (low.excess > 0) high = look(static_cast<double>(n));
    double below = high.excess + aim, above = low.excess + aim;
    for (int step = 0, last = 0; step < 24 && high.excess < -2 * aim && low.excess > 0; ++step) {
        const KSeqThreshold next = look(high.rho - below * (high.rho - low.rho) / (below - above));
        const int moved = next.excess > 0 ? -1 : 1;
        (moved < 0 ? low : high) = next;
        (moved < 0 ? above : below) = next.excess + aim;
        if (moved == last) (moved < 0 ? below : above) /= 2;
        last = moved;
    }
    return {high.rho, high.beta > 0 ? high.accepted / high.beta : 0};
}

/// A node that judges each child by p / rho, independently of its other children.
template <class T>
class KSeqNode : public walks::NodeRow<T> {
    using L = std::remove_cvref_t<decltype(distribution_at(std::declval<const T&>().distributions, Index{}))>;
    static_assert(!SharedView<typename walks::NodeRow<T>::View>,
                  "specsample::KSeq: this rule looks at whole rows several times, so that it takes no rows of slices; "
                  "judge them by RecursiveRejection");
    static_assert(RowDistribution<L>,
                  "specsample::KSeq: drafted tokens must be independent draws of one row; give Sampled{row}, or judge "
                  "point masses by TokenVerification or SampleMatch");

  public:
    using walks::NodeRow<T>::NodeRow;

    walks::Ratio ratio(Index child) {
        const double p = this->entry(this->context().token(child));
        const L distribution = this->distribution(child);
        if (this->fault()) return {};
        if (!is_residual_) {
            const Index count = count_children();  // refuses children without a common row
            sum_ = this->sum();
            rest_ = distribution.rest();
            constants_ = solve_k_seq(distribution.row(), rest_, this->view(), sum_, count);
        }
        return {p * rest_, constants_.rho * distribution.weight(this->context().token(child)) * sum_};
    }

    void reject(Index) { is_residual_ = true; }
    bool is_residual() const { return is_residual_; }

    /// Draw the last token: from p - min(q, p / rho) P_acc / beta if a child was rejected, otherwise from p.
    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        if (!is_residual_) return this->draw_from_row(rng);
        const Index first = this->context().shape.first_child(this->node());
        const L& distribution = distribution_at(this->context().distributions, first);
        const auto p = this->view().template cast<double>();
        const auto q = distribution.row().template cast<double>();
        const double stretch = sum_ / rest_;  // gives q the sum of p
        const auto left =
            p - q.min(p * (1 / (stretch * constants_.rho))).unaryExpr(Scaled(constants_.factor * stretch));
        return this->draw_from_rest(rng, kernels::RowWeights((left + left.abs()) * .5), [&] {
            this->blame_row();
            this->blame(kernels::inspect(distribution.row(), Side::draft, first));
        });
    }

  private:
    /// Count the children.
    /// @throws std::invalid_argument if they are not independent draws of one row
    Index count_children() const {
        const auto& context = this->context();
        const Index first = context.shape.first_child(this->node());
        Index count = 0;
        for (Index child = first; child != no_node; child = context.shape.next_sibling(child), ++count) {
            const L distribution = distribution_at(context.distributions, child);
            if (distribution.is_point() || !distribution.without().empty() ||
                !is_same_row(distribution.row(), distribution_at(context.distributions, first).row()))
                invalid("KSeq", "the distribution of node " + to_text(child), "of another kind or row",
                        "Sampled{row}, the same row as its siblings");
        }
        return count;
    }

    /// Compare two rows by the addresses of their numbers, or by their sizes if they are computed.
    template <class View>
    static bool is_same_row(const View& a, const View& b) {
        if constexpr (is_entries_row<View>) {
            return is_same_row(a.functor().numbers(), b.functor().numbers());
        } else if constexpr (requires { a.data(); }) {
            return a.data() == b.data();
        } else {
            return a.size() == b.size();
        }
    }

    KSeqConstants constants_;
    double sum_ = 1, rest_ = 1;  ///< sums of the target's row and the children's row
    bool is_residual_ = false;
};

}  // namespace detail

/// K-SEQ: accepts each of n independent drafts of a position with the same probability min(1, p(x) / (rho q(x))).
///
///     rho     the smallest with 1 - (1 - beta)^n <= rho beta,  beta = sum min(q, p / rho)
///     accept  the first of n children with u rho q(x) < p(x),
///     else    emit y ~ p - min(q, p / rho) (1 - (1 - beta)^n) / beta
///
/// For trees whose siblings are independent draws of one row; on a chain it is token verification. One of n children is
/// accepted with probability 1 - (1 - beta)^n.
///
/// @draws    one accept draw per child tried, then one last-token draw, unless a budget or the end of the text ends the
///           round earlier
/// @throws   std::invalid_argument if siblings are not independent draws of one row
/// @cost     some 7 passes over two rows per node with more than one child, to find rho
/// @source   Sun et al. (arXiv:2310.15141), Algorithm 2, Theorem 2
struct KSeq {
    static constexpr bool lossless = true;
    static constexpr bool looks_ahead = false;
    static constexpr bool reads_once = true;

    template <class Context>
    Outcome operator()(const Context& context) const {
        return walks::top_down(context, [&](Index node) { return detail::KSeqNode<Context>(context, node); });
    }
};

}}  // namespace specsample

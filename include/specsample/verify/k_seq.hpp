// K-SEQ: several independent drafts per position, all judged by the target's row divided by one constant.
//
// Sun et al.: "SpecTr: fast speculative decoding via optimal transport", NeurIPS 2023 (arXiv:2310.15141), Algorithm 2,
// Theorem 2.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

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

    KSeqConstants constants() const { return {rho, beta > 0 ? accepted / beta : 0}; }
};

/// Return where the inverse of a function, interpolated between three of its points (x, f) or between the last two if
/// there are but two, is 0: it may be anywhere, or NaN.
inline double interpolated_root(std::span<const std::array<double, 2>> points) {
    double root = 0;
    for (const auto& [x, f] : points) {
        double share = x;
        for (const auto& [other, value] : points)
            if (other != x) share *= value / (value - f);
        root += share;
    }
    return root;
}

/// Find the smallest rho at which the residual is not negative:
/// (1 - (1 - beta)^n) <= rho beta, beta = sum min(q, p / rho).
/// @param rest, sum   the sums of q and p, by which both are divided
/// @cost              some 6 passes over two rows, at most 26; none if n = 1
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
    // The root of excess + aim, by the inverse through the last three points: between 1 and n, and not below
    // accepted / beta of a lower rho, which grows with rho and equals it at the root. Where three steps leave more than
    // a quarter of the excess, the middle of the range is looked at: rows with a few large ratios are not smooth.
    constexpr double aim = 0x1p-23;
    KSeqThreshold found = look(1);
    if (found.excess <= 0) return found.constants();
    double low = 1, high = static_cast<double>(n), next = found.accepted / found.beta;
    std::array<std::array<double, 2>, 3> points{};
    for (std::size_t step = 0; step < 24 && (found.excess > 0 || found.excess < -2 * aim); ++step) {
        const bool is_slow = step > 2 && std::abs(found.excess) > std::abs(points[step % 3][1]) / 4;
        points[step % 3] = {found.rho, found.excess + aim};
        if (step > 0) next = interpolated_root(std::span(points).first(std::min<std::size_t>(step + 1, 3)));
        if (is_slow || !(next > low && next < high)) next = low + (high - low) / 2;
        found = look(next);
        (found.excess > 0 ? low : high) = next;
    }
    return (found.excess > 0 ? look(high) : found).constants();
}

/// The residual of K-SEQ: (1 - share) p + share max(0, p - rho q).
template <class RowWeights, class Residual>
struct KSeqResidual {
    RowWeights row;
    Residual residual;
    double share;

    Index size() const { return row.size(); }
    Index id(Index place) const { return row.id(place); }
    double operator[](Index place) const { return both(row[place], residual[place]); }
    double sum(Index first, Index count) const { return both(row.sum(first, count), residual.sum(first, count)); }

  private:
    double both(double p, double left) const { return rounded((1 - share) * p) + rounded(share * left); }
};
template <class RowWeights, class Residual>
KSeqResidual(const RowWeights&, const Residual&, double) -> KSeqResidual<RowWeights, Residual>;

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
        // p - factor min(q, p / rho) = (1 - share) p + share max(0, p - rho q)
        const double share = std::min(1.0, constants_.factor / constants_.rho);
        const kernels::RowWeights row(this->view());
        const kernels::ResidualWeights residual(this->view(), distribution.row(), constants_.rho * (sum_ / rest_));
        return this->draw_from_rest(rng, KSeqResidual{row, residual, share}, [&] {
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
/// @cost     some 6 passes over two rows per node with more than one child (5 for two children), to find rho
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

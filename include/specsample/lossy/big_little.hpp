// Big little decoder: the small model writes while it is confident, and the big one rolls back what it finds unlikely.
//
// Kim et al.: "Speculative decoding with big little decoder", NeurIPS 2023 (arXiv:2302.07863).
#pragma once

#include <cmath>
#include <limits>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A node of the BigLittle walk. Its last token is drawn from p, also after a rejection.
template <class T, class Rule>
class BigLittleNode : public walks::NodeRow<T> {
    using L = std::remove_cvref_t<decltype(distribution_at(std::declval<const T&>().distributions, Index{}))>;
    static_assert(RatioDistribution<L>,
                  "specsample::lossy::BigLittle: a SharedNoise token does not say how sure its drafter was; draw it "
                  "with Purpose::draft and give Sampled{row}");

  public:
    BigLittleNode(const T& context, Index node, const Rule& rule) : walks::NodeRow<T>(context, node), rule_(rule) {}

    walks::Ratio ratio(Index child) {
        const double mass = this->entry(this->context().token(child));
        const double confidence = largest_of(this->distribution(child), child);
        return {rule_.accepts(mass, confidence) ? 1.0 : 0.0, 1};
    }
    void reject(Index) { rejected_ = true; }
    bool is_residual() const { return rejected_; }

    template <class Rng>
    kernels::Drawn draw(const Rng& rng) {
        return this->draw_from_row(rng);
    }

  private:
    /// Find the largest probability of the row that the child was drawn from; 1 for a point mass.
    double largest_of(const L& distribution, Index child) {
        if constexpr (RowDistribution<L>) {
            if (distribution.is_point()) return 1;
            const Index best = this->fault() ? -1 : kernels::argmax(distribution.row());
            if (best >= 0) return static_cast<double>(distribution.row().coeff(best));
            this->blame(kernels::inspect(distribution.row(), Side::draft, child));
            return 0;
        } else {
            return 1;
        }
    }

    const Rule& rule_;
    bool rejected_ = false;
};

}  // namespace detail

namespace lossy {

/// Accept x if max q >= fallback and -log p(x) <= rollback, else draw from p.
///
/// The output distribution is q on the accepted tokens, plus p times the q mass of all other tokens. A token of target
/// probability 0 is never accepted. On a tree the walk follows the first accepted child.
///
/// @param fallback   in [0, 1]: the confidence max q that a draft needs; where max q is below it, the output
///                   distribution is p
/// @param rollback   >= 0, in nats
/// @draws            one last-token draw
/// @cost             a pass over q per token judged, and one over p for the last token
/// @source           Kim et al. 2023, arXiv:2302.07863
struct BigLittle {
    static constexpr bool lossless = false;

    double fallback = 0;
    double rollback = 5;

    void check() const {
        detail::require(fallback >= 0 && fallback <= 1, "BigLittle", "fallback", fallback, "in [0, 1]");
        detail::require_not_negative("BigLittle", "rollback", rollback);
    }

    /// Tell whether a token of target probability `mass` is accepted if the largest probability of its draft row is
    /// `confidence`.
    bool accepts(double mass, double confidence) const {
        return confidence >= fallback && mass > 0 && -std::log(mass) <= rollback;
    }

    template <class Context>
    Outcome operator()(const Context& context) const {
        check();
        return walks::top_down(
            context, [&](Index node) { return detail::BigLittleNode<Context, BigLittle>(context, node, *this); });
    }

    /// Compute for each id the probability that it is accepted once drafted.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        const double confidence = at.q.maxCoeff();
        return detail::indicator(at.p.size(), [&](Index id) { return accepts(at.p[id], confidence); });
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), at.p);
    }
};

}  // namespace lossy

}}  // namespace specsample

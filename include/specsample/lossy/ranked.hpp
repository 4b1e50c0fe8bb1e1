// Relaxations of greedy decoding: a drafted token is accepted if the target ranks it high enough, and the last token is
// always the target's likeliest.
//
//   RelaxedTopN       accepts the n likeliest ids, unless they are less likely than the first by more than delta
//   TopKMembership    accepts the k likeliest ids
//   GreedyLenience    accepts ids that are at least l times as likely as the first
#pragma once

#include <limits>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Count the entries that rank before the entry of `token`: larger entries, and equal entries of lower ids.
template <RowLike R>
Index rank(const R& row, Index token) {
    const auto view = as_row(row);
    const auto mass = view.coeff(token);
    Index before = 0;
    for (Index i = 0; i < view.size(); ++i) before += view.coeff(i) > mass || (view.coeff(i) == mass && i < token);
    return before;
}

/// A node of a walk by ranks: rule.accepts(row, token, best) decides, with `best` the row's likeliest id.
template <class T, class Rule>
class RankedNode : public walks::NodeRow<T> {
  public:
    RankedNode(const T& context, Index node, const Rule& rule) : walks::NodeRow<T>(context, node), rule_(rule) {
        if (this->fault()) return;
        best_ = kernels::argmax(this->view());
        if (best_ < 0) this->blame_row();
    }

    walks::Ratio ratio(Index child) {
        const Token token = this->context().token(child);
        this->entry(token);
        return {!this->fault() && rule_.accepts(this->view(), token, best_) ? 1.0 : 0.0, 1};
    }
    void reject(Index) { missed_ = true; }
    bool is_residual() const { return missed_; }

    template <class Rng>
    kernels::Drawn draw(const Rng&) {
        this->entry(static_cast<Token>(best_));
        return {best_, 1};
    }

  private:
    const Rule& rule_;
    Index best_ = -1;
    bool missed_ = false;
};

template <class Context, class Rule>
Outcome walk_ranked(const Context& context, const Rule& rule) {
    rule.check();
    return walks::top_down(context, [&](Index node) { return RankedNode<Context, Rule>(context, node, rule); });
}

template <class Rule, RowLike Q, RowLike P>
Eigen::ArrayXd ranked_chances(const Rule& rule, const Q& q, const P& p) {
    rule.check();
    const RowPair at(q, p);
    const Index best = kernels::argmax(at.p);
    return indicator(at.p.size(), [&](Index id) { return best >= 0 && rule.accepts(at.p, id, best); });
}

/// Compute q on the accepted ids, with the q mass of all other ids on the likeliest id.
template <class Rule, RowLike Q, RowLike P>
Eigen::ArrayXd ranked_distribution(const Rule& rule, const Q& q, const P& p) {
    const RowPair at(q, p);
    return emitted(at.q, ranked_chances(rule, q, p),
                   kernels::one_hot<double>(at.p.size(), kernels::argmax(at.p)).array());
}

template <class View>
double mass_at(const View& row, Index id) {
    return static_cast<double>(row.coeff(id));
}

}  // namespace detail

namespace lossy {

// All three rules follow the first accepted child, and never accept a token of target probability 0. Their output
// distribution at one position is q on the accepted ids, with the q mass of all other ids on the likeliest id. At the
// strictest setting they decode greedily; no setting samples from the target.

/// Accept x if it is among the target's n likeliest ids and p(x) >= max p - delta.
///
/// TensorRT-LLM uses this rule in the thinking phase of a text, with n = 10 .. 15 and delta = 0.5 .. 0.6. Outside of
/// that phase it decides like GreedyMatch.
///
/// @param n       >= 1; 1 is greedy decoding
/// @param delta   >= 0
/// @draws         none
/// @cost          one pass over the row of every position reached, and at most one per child judged; for logits one
///                more pass per position
struct RelaxedTopN {
    static constexpr bool lossless = false;

    Index n = 1;
    double delta = 0;

    void check() const {
        detail::require(n >= 1, "RelaxedTopN", "n", n, "at least 1");
        detail::require_not_negative("RelaxedTopN", "delta", delta);
    }

    /// Tell whether `token` is accepted in a row whose likeliest id is `best`.
    template <class View>
    bool accepts(const View& row, Index token, Index best) const {
        const double mass = detail::mass_at(row, token);
        return mass > 0 && mass >= detail::mass_at(row, best) - delta && detail::rank(row, token) < n;
    }

    template <class Context>
    Outcome operator()(const Context& context) const {
        return detail::walk_ranked(context, *this);
    }
    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        return detail::ranked_chances(*this, q, p);
    }
    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        return detail::ranked_distribution(*this, q, p);
    }
};

/// Accept x if it is among the target's k likeliest ids.
///
/// @param k   >= 1; 1 is greedy decoding
/// @draws     none
/// @cost      one pass over the row of every position reached, and at most one per child judged; for logits one more
///            pass per position
/// @source    Stern, Shazeer, Uszkoreit: "Blockwise parallel decoding for deep autoregressive models", NeurIPS 2018
///            (arXiv:1811.03115), section 5.1
struct TopKMembership {
    static constexpr bool lossless = false;

    Index k = 1;

    void check() const { detail::require(k >= 1, "TopKMembership", "k", k, "at least 1"); }

    /// Tell whether `token` is accepted in a row whose likeliest id is `best`.
    template <class View>
    bool accepts(const View& row, Index token, Index best) const {
        return detail::mass_at(row, token) > 0 && (token == best || detail::rank(row, token) < k);
    }

    template <class Context>
    Outcome operator()(const Context& context) const {
        return detail::walk_ranked(context, *this);
    }
    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        return detail::ranked_chances(*this, q, p);
    }
    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        return detail::ranked_distribution(*this, q, p);
    }
};

/// Accept x if p(x) >= l max p: lenience at temperature 0.
///
/// @param l   in (0, 1]; 1 is greedy decoding, but accepts every one of several likeliest ids
/// @draws     none
/// @cost      one pass over the row of every position reached; for logits two
/// @source    Leviathan et al. 2023, arXiv:2211.17192, appendix A.5
struct GreedyLenience {
    static constexpr bool lossless = false;

    double l = 1;

    void check() const { detail::require(l > 0 && l <= 1, "GreedyLenience", "l", l, "in (0, 1]"); }

    /// Tell whether `token` is accepted in a row whose likeliest id is `best`.
    template <class View>
    bool accepts(const View& row, Index token, Index best) const {
        const double mass = detail::mass_at(row, token);
        return mass > 0 && mass >= l * detail::mass_at(row, best);
    }

    template <class Context>
    Outcome operator()(const Context& context) const {
        return detail::walk_ranked(context, *this);
    }
    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        return detail::ranked_chances(*this, q, p);
    }
    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        return detail::ranked_distribution(*this, q, p);
    }
};

}  // namespace lossy

}}  // namespace specsample

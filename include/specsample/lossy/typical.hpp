// Typical acceptance: a drafted token is accepted if it is likely enough, given the entropy of the target's row.
//
// Cai et al.: "Medusa: simple LLM inference acceleration framework with multiple decoding heads", ICML 2024
// (arXiv:2401.10774), section 2.3.1; Hewitt, Manning, Liang: "Truncation sampling as language model desmoothing", 2022.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <specsample/core/eigen.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/lossy/paths.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace lossy {

/// Accept x if p(x) > min(epsilon, delta exp(-H(p))), H the entropy in nats.
///
/// On a tree the longest accepted path is taken; of equally long paths the likeliest, then the first. The last token is
/// drawn from p after that path. If no first token is accepted, the round emits one token from p. The token that Medusa
/// always accepts is the last token of the prefix here.
///
/// The output distribution is q on the accepted tokens, plus p times the q mass of all other tokens.
///
/// @param epsilon   >= 0
/// @param delta     >= 0
/// @draws           one last-token draw
/// @cost            one pass with a logarithm per entry over the row of every accepted node that has children, also on
///                  paths that are not taken, and one pass for the last token
/// @edge            a token of probability 1 is accepted unless epsilon and delta are both at least 1
/// @source          Cai et al. 2024, arXiv:2401.10774, section 2.3.1
struct TypicalAcceptance {
    static constexpr bool lossless = false;

    double epsilon = 0.09;
    double delta = 0.3;

    void check() const {
        detail::require_not_negative("TypicalAcceptance", "epsilon", epsilon);
        detail::require_not_negative("TypicalAcceptance", "delta", delta);
    }

    /// Compute the bound that a token's probability in this row must exceed.
    /// @returns   NaN if the row has an entry that is negative or not finite
    template <RowLike R>
    double threshold(const R& row) const {
        const auto view = detail::as_row(row);
        double entropy = 0;
        for (Index i = 0; i < view.size(); ++i) {
            const double mass = static_cast<double>(view.coeff(i));
            if (mass != 0) entropy -= mass * std::log(mass);
        }
        if (!detail::is_finite(entropy)) return std::numeric_limits<double>::quiet_NaN();
        return std::min(epsilon, delta * std::exp(-entropy));
    }

    template <class T>
    Outcome operator()(const T& context) const {
        check();
        const auto bad = detail::note_paths(context, [&](walks::NodeRow<T>& row) {
            const double above = threshold(row.view());
            if (detail::is_nan(above)) row.blame_row();
            return above;
        });
        return bad ? Outcome{.fault = bad} : detail::keep_path(context, longest(context));
    }

    /// Compute for each id the probability that it is accepted once drafted: 0 or 1.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        check();
        const detail::RowPair at(q, p);
        const double above = threshold(at.p);
        return detail::indicator(at.p.size(), [&](Index id) { return at.p[id] > above; });
    }

    /// Compute the output distribution at one position.
    template <RowLike Q, RowLike P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return detail::emitted(at.q, chances(q, p), at.p);
    }

  private:
    template <class T>
    static Index longest(const T& context) {
        Index best = root_node;
        for (Index node = 0; node < context.shape.size(); ++node) {
            if (!detail::is_reached(context.state(node))) continue;
            const PathSums path = detail::noted(context.state(node)), so_far = detail::noted(context.state(best));
            const bool equal = path.length == so_far.length;
            if (path.length > so_far.length || (equal && path.log_sum > so_far.log_sum)) best = node;
        }
        return best;
    }
};

}  // namespace lossy

}}  // namespace specsample

// The optimal-transport bound: how often a lossless rule can accept one of n drafts at one position.
//
//   transport_bound(draft, target, n)                       n drafts, each from the whole draft row
//   transport_bound_without_replacement(draft, target, n)   n drafts, no two the same
//   transport_bound_greedy(draft, target, n)                the n - 1 likeliest ids and one draft from the rest
//
// For any distribution of the drafts the bound is 1 + min over sets H of tokens of p(H) - f(H), f(H) = P(all drafts lie
// in H). Only V + 1 of the sets have to be tried if a token adds no less to f, per unit of q, when it joins H later:
//
//     (f(H + y) - f(H)) / q(y)  <=  (f(H + y + x) - f(H + y)) / q(x)        for all H and x, y outside it.
//
// Then the best H takes tokens in ascending order of p/q: if adding y pays for its p(y), so does adding any x of a
// smaller p/q. For independent drafts the condition is the convexity of q(H)^n; for drafts without replacement it is
// proved at the function.
//
// Sun et al.: "SpecTr: fast speculative decoding via optimal transport", NeurIPS 2023 (arXiv:2310.15141); Hu et al.,
// 2025 (arXiv:2502.18779).
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/theory/acceptance.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// A token that can be drafted, by its probabilities in the two rows.
struct Supply {
    double target, draft;
};

/// Check the arguments that all bounds take: two views of rows and a number of drafts.
template <class Q, class P>
void require_drafts(std::string_view where, const Q& q, const P& p, Index drafts) {
    require(drafts >= 1, where, "drafts", drafts, "1 or more");
    if (p.size() != q.size())
        invalid(where, "the draft row's size", q.size(), "the target row's, " + to_text(p.size()));
}

/// List the tokens with q > 0 in ascending order of p/q. All other tokens are in no best set H, because they add to
/// p(H) and not to f(H).
template <RowLike Draft, RowLike Target>
std::vector<Supply> by_ratio(std::string_view where, const Draft& draft, const Target& target, Index drafts) {
    const auto p = as_row(target);
    const auto q = as_row(draft);
    require_drafts(where, q, p, drafts);
    std::vector<Supply> tokens;
    for (Index i = 0; i < q.size(); ++i)
        if (is_positive(static_cast<double>(q.coeff(i))))
            tokens.push_back({static_cast<double>(p.coeff(i)), static_cast<double>(q.coeff(i))});
    std::ranges::sort(tokens, {}, [](const Supply& token) {
        return token.target > 0 ? token.target / token.draft : 0;  // a NaN has no order
    });
    return tokens;
}

/// Compute 1 + the minimum of p(H) - f(H) over the prefixes H of `tokens`, including the empty prefix; 0 without
/// tokens.
/// @param add   add(token) -> f(H) after the token has joined H
template <class Add>
double bound_of_prefixes(const std::vector<Supply>& tokens, Add add) {
    double p = 0, least = 0;
    for (const Supply& token : tokens) {
        p += token.target;
        const double difference = p - add(token);
        if (!(difference >= least)) least = difference;  // a NaN stays
    }
    return tokens.empty() ? 0 : std::clamp(1 + least, 0.0, 1.0);
}

/// The arrivals of a growing set of ids in an exponential race: P(exactly k of them have arrived at t), t on a grid.
///
/// Drafts without replacement are the first n arrivals at rates q. So f(H) = P(n of H arrive before any other id),
/// which is an integral over the time of the first other arrival, of density q(rest) exp(-q(rest) t). As a function of
/// ln t its integrand is analytic in a strip of half-width pi/2 and falls off at both ends, so the trapezoidal rule
/// leaves an error of about exp(-pi^2 / step): 1e-16.
class ArrivalGrid {
  public:
    /// The least rate that is allowed: the grid ends at 40 / slowest, and this time must be finite.
    static constexpr double least_rate = 1e-300;

    /// @param slowest   the smallest of all rates, which sum to 1; at least `least_rate`
    /// @param drafts    n; 2 or more unless the set is all ids, so that the integral up to exp(-12), where the grid
    ///                  begins, is at most 1e-16
    ArrivalGrid(double slowest, Index drafts)
        : times_(1 + static_cast<Index>((std::log(40 / slowest) - first) / step)),
          arrived_(Eigen::ArrayXXd::Zero(times_.size(), drafts)) {
        for (Index i = 0; i < times_.size(); ++i) times_[i] = std::exp(first + step * static_cast<double>(i));
        arrived_.col(0) = 1;
    }

    /// Add an id to the set.
    void add(double rate) {
        const Eigen::ArrayXd comes = -(-rate * times_).expm1();
        for (Index k = arrived_.cols() - 1; k >= 0; --k) {
            arrived_.col(k) *= 1 - comes;
            if (k > 0) arrived_.col(k) += comes * arrived_.col(k - 1);
        }
    }

    /// Compute P(n of the set arrive before any other id).
    double all_inside(double rate_of_others) const {
        if (rate_of_others <= 0) return 1;
        const Eigen::ArrayXd t = rate_of_others * times_;
        return step * (t * (-t).exp() * (1 - arrived_.rowwise().sum())).sum();
    }

  private:
    static constexpr double first = -12, step = 0.25;

    Eigen::ArrayXd times_;
    Eigen::ArrayXXd arrived_;  ///< column k: P(exactly k of the set have arrived), k < n
};

}  // namespace detail

namespace theory {

/// Compute the largest probability with which a lossless rule can accept one of n independent drafts.
///
///     1 + min over H of p(H) - q(H)^n,      H = the first tokens in ascending order of p/q
///
/// @param draft, target   q and p: probabilities of the same size, each row sums to 1
/// @param drafts          n, drawn independently from q
/// @returns               in [0, 1]; at least the acceptance of every lossless rule for such drafts, such as SpecInfer
///                        and K-SEQ
/// @throws                std::invalid_argument if the sizes differ or n < 1
/// @cost                  O(V log V); allocates 16 bytes per id with q > 0, in a list that grows
/// @edge                  n = 1: the overlap; p = q: 1; disjoint supports, or a draft of zeros: 0; a NaN of p at an id
///                        of the draft gives NaN. The bound rises with n to p(support of q)
/// @accuracy              a row whose sum is off by e moves the bound by up to n e
/// @source                Sun et al. 2023 (SpecTr), arXiv:2310.15141; Hu et al. 2025, arXiv:2502.18779
template <RowLike Draft, RowLike Target>
[[nodiscard]] double transport_bound(const Draft& draft, const Target& target, Index drafts) {
    double q = 0;
    return detail::bound_of_prefixes(detail::by_ratio("transport_bound", draft, target, drafts),
                                     [&](const detail::Supply& token) {
                                         q += token.draft;
                                         return std::pow(q, static_cast<double>(drafts));
                                     });
}

/// Compute the largest probability with which a lossless rule can accept one of n drafts without replacement.
///
///     1 + min over H of p(H) - P(all n drafts lie in H),      H = the first tokens in ascending order of p/q
///
/// Each draft is drawn from q without the ids of the earlier drafts. Proof that the best H consists of first tokens in
/// this order: let the drafts be the winners of a race of all ids at rates q, and fix the arrivals of H, the (n-1)-th
/// of them at time a. Divide f(H + y) - f(H) by q(y), and f(H + y + x) - f(H + y) by q(x). The parts of both quotients
/// in which the added id itself is the last draft are the same. The remaining parts are at most (1 - exp(-q(y) a))
/// exp(-q(x) a) / q(y) and at least (1 - exp(-q(x) a)) / q(x), both times P(no id of the rest before a); and 1 -
/// exp(-z) <= z <= exp(z) - 1.
///
/// @param draft, target   q and p: probabilities of the same size; for n > 1, q need not sum to 1
/// @param drafts          n; if q has fewer ids, all of them are drafts
/// @returns               in [0, 1]; at least the acceptance of recursive rejection of such drafts
/// @throws                std::invalid_argument if the sizes differ or n < 1
/// @cost                  O(V log V + V n G), with a grid of G = 4 ln(1 / min q) + 64 points; a second for V = 128256
///                        and n = 4; allocates
/// @edge                  n = 1: the overlap; n = all ids of q: the target's mass on them. An id with less than 1e-300
///                        of q counts as one that q does not have
/// @accuracy              1e-13 for any n and vocabulary
template <RowLike Draft, RowLike Target>
[[nodiscard]] double transport_bound_without_replacement(const Draft& draft, const Target& target, Index drafts) {
    auto tokens = detail::by_ratio("transport_bound_without_replacement", draft, target, drafts);
    if (drafts == 1 || tokens.empty()) return acceptance(draft, target);
    double sum = 0;
    for (const detail::Supply& token : tokens) sum += token.draft;
    std::erase_if(tokens, [&](const auto& token) { return token.draft / sum < detail::ArrivalGrid::least_rate; });
    std::vector<double> rest(tokens.size(), 0);  // q behind each token, summed from the end: a difference would cancel
    for (std::size_t i = tokens.size() - 1; i > 0; --i) rest[i - 1] = rest[i] + tokens[i].draft;
    const double all = rest[0] + tokens[0].draft;
    const double slowest = std::ranges::min(tokens, {}, &detail::Supply::draft).draft;
    detail::ArrivalGrid grid(slowest / all, std::min(drafts, static_cast<Index>(tokens.size())));
    return detail::bound_of_prefixes(tokens, [&, i = std::size_t{0}](const detail::Supply& token) mutable {
        grid.add(token.draft / all);
        return grid.all_inside(rest[i++] / all);
    });
}

/// Compute the largest probability with which a lossless rule can accept one of the drafts of GreedyChildren.
///
///     p(likeliest) + sum over the rest of min(p, q')
///
/// These drafts are the n - 1 likeliest ids of q, and one token drawn from q', which is q without these ids, rescaled.
///
/// @param draft, target   q and p: probabilities of the same size, each row sums to 1
/// @param drafts          n
/// @returns               in [0, 1]; recursive rejection that judges the drawn token first attains it. It may exceed
///                        the bounds for n drawn tokens, because the drafts are not the same
/// @throws                std::invalid_argument if the sizes differ or n < 1
/// @cost                  O(V log n): three passes over q and one over p; allocates n - 1 ids
/// @edge                  nothing left to draw: p(likeliest)
/// @source                Hu et al. 2025, arXiv:2502.18779, section 5
template <RowLike Draft, RowLike Target>
[[nodiscard]] double transport_bound_greedy(const Draft& draft, const Target& target, Index drafts) {
    const auto p = detail::as_row(target);
    const auto q = detail::as_row(draft);
    detail::require_drafts("transport_bound_greedy", q, p, drafts);
    std::vector<Token> named(static_cast<std::size_t>(std::min(drafts - 1, q.size())));
    named.resize(static_cast<std::size_t>(kernels::top_ids(q, std::span(named))));
    const kernels::WithoutWeights rest(q, named);
    const double left = rest.sum(0, rest.size());
    double bound = 0;
    for (const Token token : named) bound += static_cast<double>(p.coeff(token));
    std::ranges::sort(named);
    for (Index i = 0; i < p.size() && left > 0; ++i)
        if (!std::ranges::binary_search(named, i))
            bound += std::min(static_cast<double>(p.coeff(i)), static_cast<double>(q.coeff(i)) / left);
    return std::min(bound, 1.0);
}

}  // namespace theory

}}  // namespace specsample

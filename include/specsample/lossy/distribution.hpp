// The exact output distribution of a lossy rule at one position, its acceptance and its distance from the target.
//
// A rule that accepts x ~ q with probability r(x), and emits y ~ s after a rejection, has the output distribution
//
//     pi = q r + (1 - A) s,     A = sum q r
//
// Every rule has A <= sum min(q, pi) <= sum min(p, q) + TV(pi, p): a rule gains at most its distance from the target
// over the acceptance of token verification. Both are equalities if A is the largest possible for pi, and pi lies
// between p and q at every id.
//
//   rule.distribution(q, p)                     pi
//   rule.chances(q, p)                          r
//   acceptance(rule, q, p)                      A
//   total_variation_from_target(rule, q, p)     TV(pi, p)
#pragma once

#include <concepts>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace lossy {

/// A rule that changes the text's distribution and can compute the changed one: rule.distribution(q, p) is the output
/// distribution at one position, rule.chances(q, p) the probability that each id is accepted once drafted. Both throw
/// std::invalid_argument if the sizes of the rows differ or an option of the rule is out of range.
template <class R>
concept LossyRule = !R::lossless && requires(const R& rule, const Eigen::ArrayXd& row) {
    { rule.distribution(row, row) } -> std::same_as<Eigen::ArrayXd>;
    { rule.chances(row, row) } -> std::same_as<Eigen::ArrayXd>;
};

}  // namespace lossy

namespace detail {

/// Return a row as an expression in double that holds no temporaries.
template <RowLike R>
auto doubles(const R& row) {
    return as_row(row).template cast<double>();
}

template <RowLike R>
Eigen::ArrayXd to_array(const R& row) {
    return doubles(row);
}

/// The draft row and the target row at one position, copied as doubles.
struct RowPair {
    Eigen::ArrayXd p, q;

    /// @throws std::invalid_argument if the sizes differ
    template <RowLike Q, RowLike P>
    RowPair(const Q& draft, const P& target) : p(to_array(target)), q(to_array(draft)) {
        if (p.size() != q.size())
            invalid("distribution", "the draft row's size", q.size(), "the target row's, " + to_text(p.size()));
    }
};

/// Compute q r + (1 - A) s, with s proportional to `weights`.
inline Eigen::ArrayXd emitted(const Eigen::ArrayXd& q, const Eigen::ArrayXd& r, const Eigen::ArrayXd& weights) {
    return q * r + (q * (1 - r)).sum() / weights.sum() * weights;
}

/// Compute max(0, scale p - taken), or p if that difference is 0 everywhere.
inline Eigen::ArrayXd left_over(const Eigen::ArrayXd& p, double scale, const Eigen::ArrayXd& taken) {
    const Eigen::ArrayXd left = (scale * p - taken).max(0.0);
    return left.sum() > 0 ? left : p;
}

/// Return the chances of a rule that decides without a random draw: 1 for accepted ids, 0 for all others.
template <class Accepts>
Eigen::ArrayXd indicator(Index size, const Accepts& accepts) {
    return Eigen::ArrayXd::NullaryExpr(size, [&](Index id) { return accepts(id) ? 1.0 : 0.0; });
}

/// Check an option that must be a finite number of at least 0.
inline void require_not_negative(std::string_view where, std::string_view what, double value) {
    require(is_finite(value) && value >= 0, where, what, value, "a finite number of at least 0");
}

}  // namespace detail

namespace lossy {

/// Compute the probability that a token drawn from q is accepted: A = sum q r.
///
/// @param rule   a lossy rule
/// @param q, p   probabilities of the same size; each row sums to 1
/// @throws       std::invalid_argument if the sizes differ or an option of the rule is out of range
/// @cost         the cost of rule.chances; allocates
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] double acceptance(const Rule& rule, const Q& q, const P& p) {
    return (detail::to_array(q) * rule.chances(q, p)).sum();
}

/// Compute (1/2) sum |pi - p|: the total variation between the rule's output distribution and the target row.
///
/// @param rule   a lossy rule
/// @param q, p   probabilities of the same size; each row sums to 1
/// @returns      in [0, 1]
/// @throws       std::invalid_argument as `acceptance`
/// @cost         the cost of rule.distribution; allocates
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] double total_variation_from_target(const Rule& rule, const Q& q, const P& p) {
    return (rule.distribution(q, p) - detail::to_array(p)).abs().sum() / 2;
}

}  // namespace lossy

}}  // namespace specsample

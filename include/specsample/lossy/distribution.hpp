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
//   output_distribution(rule, q, p)             pi
//   chances(rule, q, p)                         r
//   acceptance(rule, q, p)                      A
//   total_variation_from_target(rule, q, p)     TV(pi, p)
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>
#include <specsample/lossy/judged.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace lossy {

/// A rule that computes its own r and pi from two rows of doubles.
template <class R>
concept SelfDescribing = requires(const R& rule, const Eigen::ArrayXd& row) {
    { rule.distribution(row, row) } -> std::same_as<Eigen::ArrayXd>;
    { rule.chances(row, row) } -> std::same_as<Eigen::ArrayXd>;
};

/// A rule that changes the text's distribution, whose changed distribution can be computed.
template <class R>
concept LossyRule = !R::lossless && (SelfDescribing<R> || JudgingRule<R>);

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
            invalid("output_distribution", "the draft row's size", q.size(), "the target row's, " + to_text(p.size()));
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

/// A token at one position, where nothing was drafted before it.
class PositionToken final : public lossy::RatioToken {
  public:
    explicit PositionToken(const RowPair& at) : at_(at) {
        for (Index id = 1; id < at.p.size(); ++id) best_ = at.p[id] > at.p[best_] ? id : best_;
    }

    void move_to(Index id) { id_ = id; }

    Index node() const override { return 0; }
    Token token() const override { return static_cast<Token>(id_); }
    walks::Ratio exact() override { return {at_.p[id_], at_.q[id_]}; }
    double p() override { return at_.p[id_]; }
    double share() override { return at_.p[id_]; }
    double before() const override { return 0; }
    double largest_p() override { return at_.p[best_]; }
    Index rank() override { return id_ == best_ ? 0 : detail::rank(at_.p, id_); }
    double entropy() override { return entropy_ ? *entropy_ : *(entropy_ = kernels::entropy(at_.p)); }
    double largest_q() override { return largest_q_ ? *largest_q_ : *(largest_q_ = at_.q.maxCoeff()); }

  private:
    const RowPair& at_;
    std::optional<double> entropy_{}, largest_q_{};
    Index best_ = 0;  ///< the likeliest id
    Index id_ = 0;
};

/// Compute pi of a rule whose last token comes from the row without the drafted token.
inline Eigen::ArrayXd emitted_without(const Eigen::ArrayXd& q, const Eigen::ArrayXd& r, const Eigen::ArrayXd& p) {
    Eigen::ArrayXd distribution = q * r;
    for (Index x = 0; x < p.size(); ++x) {
        Eigen::ArrayXd left = p;
        left[x] = 0;
        if (!(left.sum() > 0)) left = p;
        distribution += q[x] * (1 - r[x]) / left.sum() * left;
    }
    return distribution;
}

/// Check an option that must be a finite number of at least 0.
inline void require_not_negative(std::string_view where, std::string_view what, double value) {
    require(is_finite(value) && value >= 0, where, what, value, "a finite number of at least 0");
}

}  // namespace detail

namespace lossy {

/// Compute for each id the probability that it is accepted once drafted: r.
///
/// @param rule   a lossy rule
/// @param q, p   probabilities of the same size; each row sums to 1
/// @throws       std::invalid_argument if the sizes differ or an option of the rule is out of range
/// @cost         the numbers that the rule asks for, for every id; allocates
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] Eigen::ArrayXd chances(const Rule& rule, const Q& q, const P& p) {
    const detail::RowPair at(q, p);
    if constexpr (SelfDescribing<Rule>) {
        return rule.chances(at.q, at.p);
    } else {
        const auto judge = detail::judge_of(rule);
        detail::PositionToken token(at);
        return Eigen::ArrayXd::NullaryExpr(at.p.size(), [&](Index id) {
            token.move_to(id);
            return judge.chance(judge.rule, token).probability();
        });
    }
}

/// Compute the output distribution at one position, for one drafted token: pi.
/// @cost   the cost of `chances`; O(V^2) for Cactus and TreeThresholds
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] Eigen::ArrayXd output_distribution(const Rule& rule, const Q& q, const P& p) {
    const detail::RowPair at(q, p);
    if constexpr (SelfDescribing<Rule>) {
        return rule.distribution(at.q, at.p);
    } else {
        const Eigen::ArrayXd r = chances(rule, at.q, at.p);
        const auto judge = detail::judge_of(rule);
        switch (judge.recovery) {
            case Recovery::residual:
                return detail::emitted(at.q, r, detail::left_over(at.p, 1, judge.taken * at.q));
            case Recovery::remainder:
                return detail::emitted_without(at.q, r, at.p);
            case Recovery::likeliest:
                return detail::emitted(at.q, r, kernels::one_hot<double>(at.p.size(), kernels::argmax(at.p)).array());
            case Recovery::target:
                break;
        }
        return detail::emitted(at.q, r, at.p);
    }
}

/// Compute the probability that a token drawn from q is accepted: A = sum q r.
/// @cost   the cost of `chances`
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] double acceptance(const Rule& rule, const Q& q, const P& p) {
    return (detail::to_array(q) * chances(rule, q, p)).sum();
}

/// Compute (1/2) sum |pi - p|: the total variation between the rule's output distribution and the target row.
/// @returns   in [0, 1]
/// @cost      the cost of `output_distribution`
template <LossyRule Rule, RowLike Q, RowLike P>
[[nodiscard]] double total_variation_from_target(const Rule& rule, const Q& q, const P& p) {
    return (output_distribution(rule, q, p) - detail::to_array(p)).abs().sum() / 2;
}

}  // namespace lossy

}}  // namespace specsample

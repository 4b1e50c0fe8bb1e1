// A substituted target: an exact rule judges the draft against pi(q, p) instead of p.
//
// The text follows pi exactly, so its only error is the distance of pi from p. Any ratio rule can judge, on chains and
// trees.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return the sum of a row.
/// @cost   one pass; none for logits whose normaliser this library found
template <class View>
double sum_of(const View& view) {
    return sum_deviation(view) == 0 ? 1 : kernels::total_of(kernels::RowWeights<View>(view));
}

/// The rows pi(q_i, p_i), each made when a walk first asks for it in a round.
template <class T, class Transform>
class TransformedRows {
    static constexpr double not_made = -1;  // the first entry of such a row; no probability is negative

  public:
    TransformedRows(const T& context, const Transform& transform) : context_(context), transform_(transform) {
        const Index count = context.shape.size() + 1;
        std::vector<double>& rows = context.workspace.rows;
        if (std::ssize(rows) < count * context.vocab) rows.resize(static_cast<std::size_t>(count * context.vocab));
        for (Index i = 0; i < count; ++i) row(i)[0] = not_made;
    }

    /// Return row i, valid until the round ends; zeros if the data is bad.
    Column<double> operator()(Index i) {
        if (row(i)[0] == not_made) make(i, row(i));
        return column<double>(row(i).data(), context_.vocab);
    }

    /// Return the first fault that was found in a row.
    const std::optional<RowFault>& fault() const { return fault_; }

  private:
    Eigen::Map<Eigen::ArrayXd> row(Index i) const {
        return {context_.workspace.rows.data() + i * context_.vocab, context_.vocab};
    }

    void make(Index i, Eigen::Map<Eigen::ArrayXd> made) {
        const auto held = context_.row(i - 1);
        const auto p = held.view();
        // A transform reads both rows in full, so both are checked in full unless that was done before.
        const bool seen = context_.limits.check == Check::every_row;
        double found = 0;
        double& known = context_.state(i - 1).sum;  // by a check of every row
        bool good = check(p, Side::target, i, seen && context_.rows.are_supplied(), found);
        const double sum = std::max(known, found);
        known = 0;  // the sum of pi, which replaces p, is not known
        const Index child = context_.shape.first_child(i - 1);
        if (child != no_node && good) {
            const auto distribution = distribution_at(context_.distributions, child);
            if (distribution.is_point()) {
                const Token token = context_.token(child);
                made = transform_(one_at(token), whole(p, sum));
                return;
            }
            const auto q = distribution.row();
            double draft_sum = 0;
            good = check(q, Side::draft, child, seen, draft_sum);
            if (good) {
                made = transform_(whole(q, draft_sum), whole(p, sum));
                return;
            }
        }
        if (good)
            made = whole(p, sum);
        else
            made.setZero();
    }
    /// Divide a row by its sum, because rows of few bits do not sum to 1.
    /// @param sum   0 if the sum is not known
    template <class View>
    static auto whole(const View& row, double sum) {
        return row.template cast<double>() * (1 / (sum > 0 ? sum : sum_of(row)));
    }

    auto one_at(Token token) const {
        return Eigen::ArrayXd::NullaryExpr(context_.vocab, [token](Index i) { return i == token ? 1.0 : 0.0; });
    }

    template <RowLike R>
    bool check(const R& row, Side side, Index number, bool seen, double& sum) {
        const Check how = seen ? Check::entries_read : Check::every_row;
        const auto bad = check_row(row, side, number, context_.vocab, how, &sum);
        if (bad && !fault_) fault_ = bad;
        return !bad;
    }

    const T& context_;
    const Transform& transform_;
    std::optional<RowFault> fault_{};
};

}  // namespace detail

namespace lossy {

/// Judge a draft by an exact rule against pi = transform(q, p) instead of p.
///
///     Sampler sampler(draft, target, options, Transformed(Mentored{.05}, BlockVerification{}));
///
/// p is the target's row at a node. q is the whole row that the node's first child was drawn from, including any
/// removed ids; for a point mass, q = 1 on its token. A node without children is an end of the draft and keeps p. A
/// draft whose type has point masses only is refused at compile time, because it has no row to transform with.
///
/// @param transform   transform(q, p) -> an Eigen array expression in double that holds no temporaries; q and p are
///                    expressions that have been checked and sum to 1
/// @param rule        an exact rule
/// @draws             the draws of the rule
/// @cost              the cost of the rule, and for each row that the rule reads, two passes over p, two over q and the
///                    transform. The workspace holds one row of doubles per node; no allocation once it is warm
/// @edge              a bad entry of a row that is transformed is a fault of the target or the draft, whatever
///                    limits.check asks for
template <class Transform, class Rule = TokenVerification>
struct Transformed {
    static constexpr bool lossless = false;
    static_assert(Rule::lossless,
                  "specsample::lossy::Transformed: the rule behind a transform must be lossless, or the distribution "
                  "would not be the "
                  "transform's; use TokenVerification or BlockVerification");

    explicit Transformed(Transform by, Rule judge = {}) : transform(std::move(by)), rule(std::move(judge)) {
        transform.check();
    }

    Transform transform;
    Rule rule;

    template <class T>
    Outcome operator()(const T& context) const {
        using L = std::remove_cvref_t<decltype(detail::distribution_at(context.distributions, Index{}))>;
        static_assert(
            detail::RowDistribution<L>,
            "specsample::lossy::Transformed: a point mass or SharedNoise has no draft row to transform with; give "
            "Sampled{row}, or use a threshold such as Lenience or TypicalAcceptance");
        if constexpr (detail::RowDistribution<L>) {
            transform.check();
            detail::TransformedRows<T, Transform> rows(context, transform);
            RoundLimits limits = context.limits;
            limits.check = Check::entries_read;  // of pi: p and q are checked when pi is made
            using Distributions = std::remove_reference_t<decltype(context.distributions)>;
            using Source = std::remove_cvref_t<decltype(context.rng)>;
            detail::TargetRows target(rows);
            const RoundContext<Distributions, decltype(rows), Source> inner{context, target, context.rng, limits,
                                                                            context.vocab};
            Outcome outcome = rule(inner);
            if (rows.fault()) outcome.fault = rows.fault();
            return outcome;
        } else {
            return {};
        }
    }

    /// Compute the output distribution at one position: pi itself.
    Eigen::ArrayXd distribution(const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) const {
        transform.check();
        return transform(detail::as_row(q), detail::as_row(p));
    }

    /// Compute for each id the probability that it is accepted once drafted, if judged alone: min(1, pi / q).
    Eigen::ArrayXd chances(const Eigen::ArrayXd& q, const Eigen::ArrayXd& p) const {
        return (q > 0).select((distribution(q, p) / q).min(1.0), 1.0);
    }
};

template <class Transform>
Transformed(Transform) -> Transformed<Transform>;
template <class Transform, class Rule>
Transformed(Transform, Rule) -> Transformed<Transform, Rule>;

}  // namespace lossy

}}  // namespace specsample

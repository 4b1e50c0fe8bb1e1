// A substituted target: pi(q, p) in the place of p, judged by an exact rule.
//
// The text follows pi, and nothing is lost but what pi itself gives away. Any ratio walk will do, on chains and trees.
#pragma once

#include <optional>
#include <type_traits>

#include <specsample/kernels/inspect.hpp>
#include <specsample/lossy/distribution.hpp>
#include <specsample/verify/token.hpp>

namespace specsample {
namespace detail {

/// The rows pi(q_i, p_i), made when a walk asks for them and once in a round.
template <class T, class Transform>
class TransformedRows {
    using Rows = std::remove_reference_t<decltype(std::declval<const T&>().rows)>;
    static constexpr double not_made = -1;  // in the first entry, which is no probability

  public:
    TransformedRows(const T& context, const Transform& transform) : context_(context), transform_(transform) {
        const auto count = static_cast<std::size_t>(context.shape.size()) + 1;
        if (memory().size() < count) memory().resize(count);
        for (std::size_t i = 0; i < count; ++i)
            if (memory()[i].size() > 0) memory()[i][0] = not_made;
    }

    /// Row i, for as long as the round lasts. That of bad data is the target's own.
    const Eigen::ArrayXd& operator()(Index i) {
        Eigen::ArrayXd& made = memory()[static_cast<std::size_t>(i)];
        if (made.size() != context_.vocab || made[0] == not_made) make(i, made);
        return made;
    }

    /// The first thing that was wrong with a row.
    const std::optional<RowFault>& fault() const { return fault_; }

  private:
    std::vector<Eigen::ArrayXd>& memory() const { return context_.workspace.rows; }

    void make(Index i, Eigen::ArrayXd& made) {
        const auto held = context_.row(i - 1);
        const auto p = held.view();
        // A transform reads all of both rows, so they are looked at in full whatever was asked for, unless they were.
        const bool seen = context_.limits.check == Check::every_row;
        bool good = check(p, Side::target, i, seen && is_supplied<Rows>);
        const Index child = context_.shape.first_child(i - 1);
        if (child != no_node && good) {
            const auto distribution = distribution_at(context_.distributions, child);
            if (distribution.is_point()) {
                const Token token = context_.token(child);
                made = transform_(one_at(token), p);
                return;
            }
            const auto q = distribution.row();
            good = check(q, Side::draft, child, seen);
            if (good) {
                made = transform_(q, p);
                return;
            }
        }
        made = p.template cast<double>();
    }

    auto one_at(Token token) const {
        return Eigen::ArrayXd::NullaryExpr(context_.vocab, [token](Index i) { return i == token ? 1.0 : 0.0; });
    }

    template <Row R>
    bool check(const R& row, Side side, Index number, bool seen) {
        const auto bad = check_row(row, side, number, context_.vocab, seen ? Check::entries_read : Check::every_row);
        if (bad && !fault_) fault_ = bad;
        return !bad;
    }

    const T& context_;
    const Transform& transform_;
    std::optional<RowFault> fault_{};
};

}  // namespace detail

namespace lossy {

/// Judge a draft against pi = transform(q, p).
///
///     Sampler sampler(draft, target, options, Transformed(Mentored{.05}, BlockVerification{}));
///
/// p is the target's row at a node and q the row behind the distribution of its first child: what the drafter said
/// there, with all ids. A child that is a point mass has q = 1 on its token; a node without children, so the end of the
/// draft, keeps p. All distributions being point masses at compile time is refused: nothing was said.
///
/// @param transform   transform(q, p) -> an Eigen array expression in double that holds no temporaries; p and q are
///                    views or expressions, and distributions by then
/// @param rule        an exact rule
/// @edge              any bad entry of a row that is transformed is a fault, of the target or the draft, whatever
///                    limits.check asks for
/// @cost              the rule's, and for each row it asks for a pass over p and one over q, and what the transform
///                    costs. Holds one row in double per node; allocates nothing once it has
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
            "specsample::lossy::Transformed: a point mass or a raced token has no draft row to transform with; give "
            "Sampled{row}, or use a threshold such as Lenience or TypicalAcceptance");
        if constexpr (detail::RowDistribution<L>) {
            transform.check();
            detail::TransformedRows<T, Transform> rows(context, transform);
            RoundLimits limits = context.limits;
            limits.check = Check::entries_read;  // of pi: what it is made from has been checked
            using Links = std::remove_cvref_t<decltype(context.shape)>;
            using Distributions = std::remove_reference_t<decltype(context.distributions)>;
            using Source = std::remove_cvref_t<decltype(context.rng)>;
            using Inner = RoundContext<Links, Distributions, decltype(rows), Source>;
            std::optional<typename Inner::Held> none;
            const Inner inner{context.shape, context.tokens, context.distributions, rows, context.rng,
                              limits,        context.vocab,  context.workspace,     none};
            Outcome outcome = rule(inner);
            if (rows.fault()) outcome.fault = rows.fault();
            return outcome;
        } else {
            return {};
        }
    }

    /// pi itself.
    template <Row Q, Row P>
    Eigen::ArrayXd distribution(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        transform.check();
        return transform(detail::as_row(at.q), detail::as_row(at.p));
    }

    /// min(1, pi / q): what a ratio walk accepts a single drafted token with.
    template <Row Q, Row P>
    Eigen::ArrayXd chances(const Q& q, const P& p) const {
        const detail::RowPair at(q, p);
        return (at.q > 0).select((distribution(q, p) / at.q).min(1.0), 1.0);
    }
};

template <class Transform>
Transformed(Transform) -> Transformed<Transform>;
template <class Transform, class Rule>
Transformed(Transform, Rule) -> Transformed<Transform, Rule>;
}  // namespace lossy

}  // namespace specsample

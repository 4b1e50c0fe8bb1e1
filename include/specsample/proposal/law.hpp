// The law of a drafted token: the distribution it was really drawn from, as a type.
//
//   Sampled{row}   drawn from exactly this row
//   PointMass      not drawn: argmax, n-gram, beam, retrieval, anything of unknown origin
//
// Judging a token by a row that it was not drawn from is the field's most repeated bug. It raises the acceptance
// rate, so no metric shows it; here it cannot be written down.
//
// What a rule needs of a law Q, for a node with target row p:
//   law.mass(x)          Q(x), double
//   law.residual(p, x)   weights proportional to max(0, p - Q), after x was rejected
//   law.row()            the row behind it, if there is one
#pragma once

#include <concepts>

#include <specsample/core/rows.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

/// The token was drawn from `row` by chance. The row is borrowed, never copied, and must outlive the round: a
/// drafter that reuses its buffer must keep every row of a lookahead apart.
template <class View>
class Sampled {
  public:
    template <Row R>
        requires std::same_as<row_view_t<R>, View>
    explicit Sampled(const R& row) : row_(as_row(row)) {}

    /// A row that would be gone: keep it in a variable for as long as the round lasts.
    template <Row R>
        requires(detail::EigenOwner<R> || (ContiguousRow<R> && !detail::is_span<R>))
    explicit Sampled(const R&& row) = delete;

    const View& row() const { return row_; }
    double mass(Index token) const { return static_cast<double>(row_.coeff(token)); }

    template <class Target>
    ResidualWeights<Target, View> residual(const Target& target, Index) const {
        return {target, row_};
    }

  private:
    View row_;
};

template <Row R>
Sampled(const R&) -> Sampled<row_view_t<R>>;

/// The token was not drawn by chance, or nobody knows how: all mass on the token itself. Exact for any origin;
/// accepts with probability p(x).
struct PointMass {
    static double mass(Index) { return 1; }

    template <class Target>
    static WithoutWeights<Target> residual(const Target& target, Index token) {
        return {target, token};
    }
};

/// What a ratio rule can judge a drafted token by.
template <class L>
concept Law = requires(const L& law, const detail::Column<float>& target, Index token) {
    { law.mass(token) } -> std::convertible_to<double>;
    { law.residual(target, token) } -> Weights;
};

/// A law with a row behind it, which can be bad.
template <class L>
concept RowLaw = Law<L> && requires(const L& law) {
    { law.row() } -> Row;
};

}  // namespace specsample

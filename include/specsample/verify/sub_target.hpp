// The sub-target: what the target still owes at a node of a draft.
//
// It starts as the node's row, s = p. A rejected child of law Q leaves s = max(0, s - Q), up to a scale that a draw
// does not need. It is never materialised: the row and the rejected law are kept, and the maximum is taken inside
// the kernel's pass. A chain's node has one child, so one rejected law is all there is to keep.
#pragma once

#include <cmath>
#include <optional>

#include <specsample/kernels/inspect.hpp>
#include <specsample/proposal/law.hpp>
#include <specsample/random/draw.hpp>

namespace specsample {

template <class View, Law L>
class SubTarget {
  public:
    /// @param number   the row's position in the round, for faults
    SubTarget(const View& row, Index number) : row_(row), number_(number) {}

    const View& row() const { return row_; }
    Index number() const { return number_; }

    /// s(x), before any rejection.
    double mass(Token token) const { return static_cast<double>(row_.coeff(token)); }

    /// The child with this token and law was rejected.
    void reject(Token token, const L& law) { rejected_.emplace(Rejected{token, law}); }

    /// Has a child been rejected, so that the last token is a recovered one?
    bool is_residual() const { return rejected_.has_value(); }

    /// Draw a token from s.
    /// @edge   a residual is empty after a rejection by rounding only (p = q): drawn from p, which is then exact
    template <class Coin>
    Drawn draw(const Coin& coin) const {
        Drawn drawn;
        if (rejected_) drawn = specsample::draw(coin, rejected_->law.residual(row_, rejected_->token));
        if (drawn.sum == 0) drawn = specsample::draw(coin, RowWeights(row_));
        return drawn;
    }

    /// The fault behind a draw, if there is one: weights that do not add up to a number, a whole row that does not
    /// add up to 1, a residual of more than that.
    std::optional<RowFault> fault(const Drawn& drawn) const {
        constexpr double tolerance = sum_tolerance<typename View::Scalar>;
        const double excess = drawn.sum - 1;
        if (drawn.index >= 0 && (rejected_ ? excess : std::abs(excess)) <= tolerance) return std::nullopt;
        if (const auto bad = inspect(row_, Party::target, number_)) return bad;
        if constexpr (RowLaw<L>) {
            if (rejected_) return inspect(rejected_->law.row(), Party::draft, number_);
        }
        return std::nullopt;
    }

  private:
    struct Rejected {
        Token token;
        L law;
    };

    View row_;
    Index number_;
    std::optional<Rejected> rejected_;
};

}  // namespace specsample

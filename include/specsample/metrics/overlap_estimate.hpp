// The acceptance estimated from rows instead of decisions: the mean of sum min(p, q) over the decided positions.
//
//   OverlapEstimate   mean, standard error and interval, over all positions and at each
//   Moments           count, mean and spread of numbers that come one by one
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include <specsample/core/estimate.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace metrics {

/// Count, mean and spread of numbers that come one by one, without the cancellation of sum(x^2) - n mean^2.
/// @source   Welford 1962, Technometrics 4:419; merging: Chan, Golub, LeVeque 1979, Stanford STAN-CS-79-773
struct Moments {
    Index count = 0;
    double mean = 0.0;
    double squares = 0.0;  ///< sum of (x - mean)^2

    /// Add one number.
    void add(double x) {
        const double before = x - mean;
        mean += before / static_cast<double>(++count);
        squares += before * (x - mean);
    }

    /// Add all numbers of other moments: up to rounding, as if each number had been added here.
    Moments& operator+=(const Moments& other) {
        if (other.count == 0) return *this;
        const double here = static_cast<double>(count), there = static_cast<double>(other.count);
        const double apart = other.mean - mean, share = there / (here + there);
        squares += other.squares + apart * apart * here * share;
        mean += apart * share;
        count += other.count;
        return *this;
    }

    /// Compute the standard error of the mean: sqrt(squares / (n - 1) / n).
    /// @edge   fewer than two numbers: .5, the largest standard deviation of numbers in [0, 1]
    [[nodiscard]] double standard_error() const {
        if (count < 2) return 0.5;
        const double n = static_cast<double>(count);
        return std::sqrt(squares / (n - 1) / n);
    }

    friend bool operator==(const Moments&, const Moments&) = default;
};

/// The conditional acceptance, estimated from the rows of the positions that were decided.
///
///     accepted / evaluated     counts decisions: 1 with probability o, at a position of overlap o = sum min(p, q)
///     sum of o / evaluated     adds up o itself
///
/// Given the rows of a decided position, o is the expectation of the count there, so by the theorem of Rao and
/// Blackwell the mean of o estimates the same acceptance with less variance. The variance of a count at one position is
/// Var(o) + E[o (1 - o)]; the second term, nearly all of it, is due to the random draws and vanishes here.
///
/// This holds for token verification of sampled drafts only: a match walk accepts less, a bottom-up walk (block and
/// traversal verification) decides positions jointly, and further siblings in a tree are judged by a residual. The
/// estimate describes what the rows allow and not what the engine did: it cannot show that drafts were judged by wrong
/// rows.
///
/// Use one per thread and merge them with +=; the order changes the rounding only.
class OverlapEstimate {
  public:
    /// Make room for `lookahead` positions, so that no `add` at one of them allocates.
    /// @throws std::invalid_argument if lookahead is negative
    void reserve(Index lookahead) {
        detail::require(lookahead >= 0, "OverlapEstimate::reserve", "lookahead", lookahead, "0 or more");
        positions_.reserve(static_cast<std::size_t>(lookahead));
    }

    /// Add one evaluated position of a round. Add every accepted position, and the rejected one if there is one, but no
    /// later position, because its rows belong to a text that was not written.
    /// @param position   0-based in its round
    /// @param overlap    sum min(p, q) of the position's rows, the result of `acceptance(q, p)`
    /// @throws           std::invalid_argument, with nothing added, for a negative position or an overlap outside
    ///                   [0, 1]
    void add(Index position, double overlap) {
        constexpr auto where = "OverlapEstimate::add";
        detail::require(position >= 0, where, "position", position, "0 or more");
        detail::require(detail::is_finite(overlap) && overlap >= 0 && overlap <= 1, where, "overlap", overlap,
                        "in [0, 1]");
        grow(static_cast<std::size_t>(position) + 1);
        positions_[static_cast<std::size_t>(position)].add(overlap);
    }

    /// Add all positions of another estimate.
    OverlapEstimate& operator+=(const OverlapEstimate& other) {
        grow(other.positions_.size());
        for (std::size_t i = 0; i < other.positions_.size(); ++i) positions_[i] += other.positions_[i];
        return *this;
    }

    /// Return the moments of the overlaps at one 0-based position.
    /// @throws std::invalid_argument if the position is negative
    [[nodiscard]] Moments at(Index position) const {
        detail::require(position >= 0, "OverlapEstimate::at", "position", position, "0 or more");
        return position < std::ssize(positions_) ? positions_[static_cast<std::size_t>(position)] : Moments{};
    }
    /// Return the moments of the overlaps at all positions together.
    [[nodiscard]] Moments all() const {
        Moments sum;
        for (const Moments& at : positions_) sum += at;
        return sum;
    }

    /// Estimate the conditional acceptance over all positions, with an interval of z standard errors.
    /// `Tally::acceptance` estimates the same acceptance from counts; see `estimate_acceptance` for acceptance that
    /// varies between texts.
    /// @throws std::invalid_argument if z is negative or not finite
    /// @edge   fewer than two overlaps: interval [0, 1]
    [[nodiscard]] Estimate acceptance(double z = z95) const { return estimate(all(), z); }
    /// Estimate the conditional acceptance at one 0-based position, likewise.
    /// @throws std::invalid_argument as `acceptance`, and if the position is negative
    [[nodiscard]] Estimate acceptance_at(Index position, double z = z95) const { return estimate(at(position), z); }

    friend bool operator==(const OverlapEstimate&, const OverlapEstimate&) = default;

  private:
    static Estimate estimate(const Moments& overlaps, double z) {
        detail::require(detail::is_finite(z) && z >= 0, "OverlapEstimate::acceptance", "z", z, "finite and 0 or more");
        const double value = std::clamp(overlaps.mean, 0.0, 1.0);  // rounding may take an overlap above 1
        if (overlaps.count < 2) return {.value = value};
        const double half = z * overlaps.standard_error();
        return {value, std::max(value - half, 0.0), std::min(value + half, 1.0)};
    }

    void grow(std::size_t size) {
        if (size > positions_.size()) positions_.resize(size);
    }

    std::vector<Moments> positions_;
};

}  // namespace metrics

}}  // namespace specsample

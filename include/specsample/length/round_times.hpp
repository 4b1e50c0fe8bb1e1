// The measured times of rounds by their number of drafted tokens.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Smoothed times of rounds by lookahead. Times of lookaheads that were not measured are interpolated.
///
/// Between two measured lookaheads the time follows the expected cost, scaled to meet both measurements; beyond the
/// longest it rises at the same rate as from the shortest to the longest. So a few measurements correct a whole curve
/// and keep its steps.
class RoundTimes {
  public:
    static constexpr double smoothing = 0.1;  ///< the weight of a new measurement once there are ten
    static constexpr double outlier = 2.0;    ///< a measurement counts as this many times the mean at most

    /// Add a measurement.
    /// @param seconds   the time, in seconds or in any other unit that is always the same
    /// @returns         false if the time was ignored because it is not positive and finite: the clock stepped back or
    ///                  failed
    bool observe(Index lookahead, double seconds) {
        if (!is_positive(seconds)) return false;
        const auto place = std::ranges::lower_bound(measured_, lookahead, {}, &Measured::lookahead);
        if (place == measured_.end() || place->lookahead != lookahead) {
            measured_.insert(place, {lookahead, seconds, 1});
        } else {
            place->add(seconds);
        }
        return true;
    }

    bool empty() const { return measured_.empty(); }

    /// Return the time of a round, measured or interpolated.
    /// @param expected   (lookahead) -> its expected cost in any unit, above 0
    /// @edge             nothing measured: the expected cost; one lookahead measured: in proportion to that cost
    template <std::invocable<Index> Cost>
    double cost(Index lookahead, const Cost& expected) const {
        if (measured_.empty()) return expected(lookahead);
        const Measured &first = measured_.front(), &last = measured_.back();
        const auto after = std::ranges::lower_bound(measured_, lookahead, {}, &Measured::lookahead);
        if (after != measured_.end() && after->lookahead == lookahead) return after->seconds;
        if (after == measured_.begin() || measured_.size() == 1)
            return first.seconds * expected(lookahead) / expected(first.lookahead);
        if (after == measured_.end())
            return first.seconds +
                   share(lookahead, first, last, expected) * std::max(0.0, last.seconds - first.seconds);
        const Measured& before = *std::prev(after);
        return before.seconds +
               std::min(1.0, share(lookahead, before, *after, expected)) * (after->seconds - before.seconds);
    }

  private:
    struct Measured {
        Index lookahead;
        double seconds;
        double count;

        /// Average in a time. The old mean is first capped at `outlier` times the new time, because the first
        /// measurement may be an outlier.
        void add(double seen) {
            count += 1;
            seconds = std::min(seconds, outlier * seen);
            seconds += (std::min(seen, outlier * seconds) - seconds) * std::max(smoothing, 1 / count);
        }
    };

    /// Return the place of a lookahead from a (0) to b (1), by expected cost, or by length if the cost does not rise.
    template <class Cost>
    static double share(Index lookahead, const Measured& a, const Measured& b, const Cost& expected) {
        const double from = expected(a.lookahead), rise = expected(b.lookahead) - from;
        if (rise > 0) return std::max(0.0, (expected(lookahead) - from) / rise);  // a cost may fall in between
        return static_cast<double>(lookahead - a.lookahead) / static_cast<double>(b.lookahead - a.lookahead);
    }

    std::vector<Measured> measured_;  ///< by lookahead
};

}  // namespace detail

}}  // namespace specsample

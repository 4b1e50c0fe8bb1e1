// What rounds were measured to take, by how many tokens they drafted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

namespace detail {

/// Smoothed seconds of rounds by lookahead, and what they say of those that were not measured.
///
/// Between two lookaheads that were, time runs as the cost that was expected does, scaled to hit both; beyond the
/// longest it goes on as it rose from the shortest to it. So few measurements correct a whole curve and keep its steps.
class RoundTimes {
  public:
    static constexpr double smoothing = 0.1;  ///< what a new measurement counts once there are ten
    static constexpr double outlier = 2.0;    ///< times the mean: more than that no pause of the machine counts

    /// Add a measurement.
    /// @param seconds   or any other unit, if it is always the same
    /// @returns         false if it was ignored: a clock that steps back, stands still or fails says nothing
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

    /// Seconds of a round, measured or concluded.
    /// @param expected   (lookahead) -> its cost in any unit, above 0
    /// @edge             nothing measured: as expected; one lookahead only: in proportion to it
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

        /// The first one may have been the pause: no mean is above `outlier` times what was seen since.
        void add(double seen) {
            count += 1;
            seconds = std::min(seconds, outlier * seen);
            seconds += (std::min(seen, outlier * seconds) - seconds) * std::max(smoothing, 1 / count);
        }
    };

    /// How far from a to b a lookahead is: by the cost that was expected, by itself where that does not rise.
    template <class Cost>
    static double share(Index lookahead, const Measured& a, const Measured& b, const Cost& expected) {
        const double from = expected(a.lookahead), rise = expected(b.lookahead) - from;
        if (rise > 0) return std::max(0.0, (expected(lookahead) - from) / rise);
        return static_cast<double>(lookahead - a.lookahead) / static_cast<double>(b.lookahead - a.lookahead);
    }

    std::vector<Measured> measured_;  ///< by lookahead
};
}  // namespace detail

}  // namespace specsample

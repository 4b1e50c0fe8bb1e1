// What a policy remembers of acceptance: an estimate per position that follows a text as it changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include <specsample/core/lengths.hpp>
#include <specsample/core/number.hpp>
#include <specsample/metrics/tally.hpp>

namespace specsample {

namespace detail {

/// Conditional acceptance at every position: that of position j, given that it was reached.
///
///     estimate(j) = (weight_j mean_j + pooling estimate(j - 1)) / (weight_j + pooling)
///
/// Means are of decayed counts: a round that drafts takes its share off the weight of all before it. A position that
/// was not asked, or not for long, so comes to have the estimate of the one before it, and a lookahead that once shrank
/// can grow again. The first position keeps its mean, and a weight of `pooling` at least: rounds without a draft make
/// it unsure of what it knows, and not hopeful.
///
/// A decision is 0 or 1, or the overlap sum min(p, q) of its rows where that was told: the same mean with less noise.
/// Positions that a stop cut off were not decided and do not count; nor do rounds that met bad data.
class AcceptanceMemory {
  public:
    static constexpr double decay = 0.98;    ///< what a round leaves of the weights before it: about 50 rounds count
    static constexpr double pooling = 2.0;   ///< how many decisions the estimate of the position before is worth
    static constexpr double expected = 0.6;  ///< acceptance where nothing is known

    /// Tell the overlap of a position of the round that is recorded next, in place of its 0 or 1; if it turns out not
    /// to be decided, this is forgotten.
    /// @param position   0-based in its round
    /// @throws           std::invalid_argument for a position outside 0 .. most_drafted or an overlap outside [0, 1]
    void observe_overlap(Index position, double overlap) {
        constexpr auto where = "AcceptanceMemory::observe_overlap";
        detail::require(position >= 0, where, "position", position, "0 or more");
        detail::require_length(where, "position", position, 0);
        detail::require(is_finite(overlap) && overlap >= 0 && overlap <= 1, where, "overlap", overlap, "in [0, 1]");
        grow(position + 1);
        at(position).overlap = overlap;
    }

    /// Add what a round decided.
    /// @param waited   rounds without a draft since the last one with: what is remembered is as much older
    /// @cost           O(positions); allocates only for a position deeper than all before
    void record(const RoundCounts& round, Index waited = 0) {
        if (!round.fault && round.proposed > 0) {
            grow(round.evaluated);
            age(waited + 1);
            for (Index i = 0; i < round.evaluated; ++i)
                at(i).add(at(i).overlap.value_or(i < round.accepted ? 1.0 : 0.0));
        }
        for (Position& position : positions_) position.overlap.reset();
    }

    /// Call f(estimate) for position 0, 1, .. count - 1.
    template <class F>
    void for_estimates(Index count, F&& f) const {
        double estimate = expected;
        for (Index i = 0; i < count; ++i) {
            if (i < std::ssize(positions_)) {
                const Position& here = positions_[static_cast<std::size_t>(i)];
                const double pooled = detail::rounded(here.weight * here.mean) + detail::rounded(pooling * estimate);
                estimate = i == 0 ? here.mean : pooled / (here.weight + pooling);
            }
            f(estimate);
        }
    }

  private:
    struct Position {
        double mean = expected;
        double weight = 0;
        std::optional<double> overlap{};

        void add(double decision) {
            weight += 1;
            mean += (decision - mean) / weight;
        }
    };

    void age(Index rounds) {
        const double kept = std::pow(decay, static_cast<double>(rounds));
        for (Position& position : positions_) position.weight = detail::rounded(position.weight * kept);
        if (!positions_.empty()) positions_.front().weight = std::max(positions_.front().weight, pooling);
    }

    Position& at(Index position) { return positions_[static_cast<std::size_t>(position)]; }
    void grow(Index size) {
        if (size > std::ssize(positions_)) positions_.resize(static_cast<std::size_t>(size));
    }

    std::vector<Position> positions_;
};
}  // namespace detail

}  // namespace specsample

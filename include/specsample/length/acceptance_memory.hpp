// An estimate of the acceptance at each position, which adapts as a text changes, for the length policies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/tally.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Estimates the conditional acceptance at every position j, the probability of acceptance given that j is reached.
///
///     estimate(j) = (weight_j mean_j + pooling estimate(j - 1)) / (weight_j + pooling)
///
/// Means are weighted: every round that drafts reduces the weight of all earlier rounds. So the estimate of a position
/// that was not reached lately approaches the estimate of the position before it, and a lookahead that shrank can grow
/// again. The first position keeps its mean, and a weight of at least `pooling`: after rounds without a draft its
/// estimate is the same, but new decisions change it faster.
///
/// A decision counts as 0 or 1, or as the overlap sum min(p, q) of its rows if that is known. The overlap has the same
/// mean and less noise. Positions that a stop cut off were not decided and do not count, nor do rounds that met bad
/// data.
class AcceptanceMemory {
  public:
    static constexpr double decay = 0.98;    ///< the factor on all weights per round: about 50 rounds count
    static constexpr double pooling = 2.0;   ///< the weight, in decisions, of the previous position's estimate
    static constexpr double expected = 0.6;  ///< the acceptance before anything is known

    /// Give the overlap of a position of the round that is recorded next, to count in place of its 0 or 1. If that
    /// round does not decide the position, the overlap is dropped.
    /// @param position   0-based in its round
    /// @param overlap    sum min(p, q) of its rows
    /// @throws           std::invalid_argument for a position outside 0 .. most_drafted or an overlap outside [0, 1]
    void observe_overlap(Index position, double overlap) {
        constexpr auto where = "AcceptanceMemory::observe_overlap";
        detail::require(position >= 0, where, "position", position, "0 or more");
        detail::require_length(where, "position", position, 0);
        detail::require(is_finite(overlap) && overlap >= 0 && overlap <= 1, where, "overlap", overlap, "in [0, 1]");
        grow(position + 1);
        at(position).overlap = overlap;
    }

    /// Add the decisions of a round.
    /// @param round    the round; ignored if it has a fault or drafted nothing
    /// @param waited   rounds without a draft since the last one with a draft, which age the weights too
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

}}  // namespace specsample

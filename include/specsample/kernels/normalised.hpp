// A row that is known to sum to 1: half of it is enough for a draw.
#pragma once

#include <algorithm>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/inspect.hpp>

namespace specsample {

/// The weights of a row whose sum is known to be 1, because its user has normalised or inspected it. A draw stops in
/// the block that its coin falls into, and makes no pass for a total.
///
///     const Drawn drawn = draw(coin, NormalisedWeights(as_row(probs)));
///
/// @cost   u of the row for a coin u: half of it on average
/// @edge   a coin past the row's end draws the last entry with weight, if it is within the tolerance of a sum
///         (sum_tolerance); else, as after a NaN, the row was not normalised, and -1 says so. What lies behind the
///         token is not read, so nobody is told what is wrong there
/// @law    total variation from rounding below 1e-6, and as far again as the row's sum is from 1
template <class View>
class NormalisedWeights {
  public:
    explicit NormalisedWeights(const View& view) : row_(view) {}

    Index size() const { return row_.size(); }
    Index id(Index place) const { return row_.id(place); }
    double operator[](Index place) const { return row_[place]; }
    double sum(Index first, Index count) const { return row_.sum(first, count); }

    static double total() { return 1; }

    /// The place at u in [0, 1) of the cumulative weights, -1 where they end before it.
    Index pick(double u) const {
        for (Index first = 0; first < size(); first += detail::block_size) {
            const Index end = std::min(first + detail::block_size, size());
            const double sum = this->sum(first, end - first);
            if (!is_finite(sum)) return -1;
            if (u < sum) return detail::pick_in_block(row_, first, end, u);
            u -= sum;
        }
        return u <= detail::tolerance_of<View> ? detail::nearest_positive(row_, size() - 1) : -1;
    }

  private:
    RowWeights<View> row_;
};

}  // namespace specsample

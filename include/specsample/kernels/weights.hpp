// Weights: non-negative numbers over the vocabulary that can be summed over a range. What a token is drawn from.
//
//   RowWeights        a row as it is
//   ResidualWeights   max(0, p - q), never materialised
//   WithoutWeights    a row with some ids taken out
//
// They need not sum to one: the draw scales its coin instead of dividing a row.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>

#include <specsample/kernels/block.hpp>

namespace specsample {
/// What can be drawn from: a size, the weight of an id, and the sum of a range in double.
template <class W>
concept Weights = requires(const W& weights, Index i, Index count) {
    { weights.size() } -> std::convertible_to<Index>;
    { weights[i] } -> std::convertible_to<double>;
    { weights.sum(i, count) } -> std::convertible_to<double>;
};

/// A row of non-negative numbers.
template <class View>
class RowWeights {
  public:
    explicit RowWeights(const View& view) : row_(view) {}

    Index size() const { return row_.size(); }
    double operator[](Index i) const { return row_[i]; }

    double sum(Index first, Index count) const {
        using Value = typename decltype(row_)::Value;
        typename decltype(row_)::Buffer buffer;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            total += detail::block_sum<Value>(
                n, [](const auto& x) { return x; }, row_.read(begin, n, buffer));
        });
        return total;
    }

  private:
    detail::Blocks<View> row_;
};

/// max(0, p - q): what the target still owes after a draft from q was rejected.
///
/// Twice the positive part is d + |d|: unlike a maximum it keeps a NaN, so a bad row cannot pass unseen.
template <class P, class Q>
class ResidualWeights {
  public:
    /// @pre p and q have the same size
    ResidualWeights(const P& p, const Q& q) : p_(p), q_(q) {}

    Index size() const { return p_.size(); }
    double operator[](Index i) const {
        const double d = p_[i] - q_[i];
        return d > 0 ? d : 0;
    }

    double sum(Index first, Index count) const {
        using Value = std::common_type_t<typename decltype(p_)::Value, typename decltype(q_)::Value>;
        typename decltype(p_)::Buffer p_buffer;
        typename decltype(q_)::Buffer q_buffer;
        const auto twice_positive = [](const auto& p, const auto& q) {
            return (p.template cast<Value>() - q.template cast<Value>()) +
                   (p.template cast<Value>() - q.template cast<Value>()).abs();
        };
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            total +=
                detail::block_sum<Value>(n, twice_positive, p_.read(begin, n, p_buffer), q_.read(begin, n, q_buffer));
        });
        return total / 2;
    }

  private:
    detail::Blocks<P> p_;
    detail::Blocks<Q> q_;
};

/// A row with the weights of some ids set to zero: what is left to draw from without replacement.
template <class View>
class WithoutWeights {
  public:
    /// @param without   ids inside the row, in any order; borrowed
    WithoutWeights(const View& view, std::span<const Token> without) : row_(view), without_(without) {}

    Index size() const { return row_.size(); }
    double operator[](Index i) const { return std::ranges::find(without_, i) == without_.end() ? row_[i] : 0; }

    /// Summed around the ids: subtracting their weights would leave rounding errors in their place.
    double sum(Index first, Index count) const {
        const Index end = first + count;
        Index next = end;  // the lowest id in the range, if there is one
        for (const Token id : without_)
            if (id >= first && id < next) next = id;
        if (next == end) return row_.sum(first, count);
        return row_.sum(first, next - first) + sum(next + 1, end - next - 1);
    }

  private:
    RowWeights<View> row_;
    std::span<const Token> without_;
};

}  // namespace specsample

// Weights: non-negative numbers that can be summed over a range, from which a token is drawn.
//
//   RowWeights        the entries of a row
//   WithoutWeights    a row with some ids taken out
//   ResidualWeights   the residual of a row after rejections   (residual.hpp)
//
// Weights need not sum to one: the draw scales its random number instead of dividing a row. They are numbered by place:
// a sparse row and its residual have fewer places than the vocabulary has ids.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>

#include <specsample/core/list_ref.hpp>
#include <specsample/kernels/entries.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace kernels {

/// Numbers that a token can be drawn from: a number of places, the weight at a place, and the sum of a range in double.
/// If ids and places differ, weights.id(place) gives the id.
template <class W>
concept Weights = requires(const W& weights, Index place, Index count) {
    { weights.size() } -> std::convertible_to<Index>;
    { weights[place] } -> std::convertible_to<double>;
    { weights.sum(place, count) } -> std::convertible_to<double>;
};

/// Return the id at a place of weights.
template <Weights W>
Index id_of(const W& weights, Index place) {
    if constexpr (requires {
                      { weights.id(place) } -> std::convertible_to<Index>;
                  }) {
        return weights.id(place);
    } else {
        return place;
    }
}

}  // namespace kernels

namespace detail {

/// Weights split over ranks. `share()` sums and draws together with the other ranks, because no rank holds the whole
/// row.
template <class W>
concept SharedWeights = requires(const W& weights) { weights.share(); };

}  // namespace detail

namespace kernels {

/// The weights of a row of non-negative numbers.
template <class View>
class RowWeights {
  public:
    explicit RowWeights(const View& view) : row_(view) {}

    Index size() const { return row_.size(); }
    Index id(Index place) const { return row_.id(place); }
    Index place_of(Index id) const { return row_.place_of(id); }
    double operator[](Index place) const { return row_[place]; }
    bool are_in_halves() const
        requires(detail::is_entries_row<View>)
    {
        return row_.are_powers();
    }
    const detail::Blocks<View>& row() const { return row_; }

    /// Return the exchange with the other ranks. Split rows only: see SharedWeights.
    auto share() const
        requires(detail::Blocks<View>::is_split)
    {
        return row_.share();
    }

    [[gnu::flatten]] double sum(Index first, Index count) const {
        using Value = typename decltype(row_)::Value;
        typename decltype(row_)::Buffer buffer;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            if (!row_.are_powers()) row_.expect(begin + n, n);  // a pass over logits prefetches by itself
            total += row_.visit(begin, n, buffer, [&](const auto& block) {
                return detail::block_sum<Value>(
                    n, [](const auto& x) { return x; }, block);
            });
        });
        return total;
    }

  private:
    detail::Blocks<View> row_;
};

/// A row with the weights of some ids set to zero, for draws without replacement.
template <class View>
class WithoutWeights {
  public:
    /// @param without   ids inside the row, in any order; borrowed
    WithoutWeights(const View& view, ListRef<Token> without) : row_(view), without_(without) {}

    Index size() const { return row_.size(); }
    Index id(Index place) const { return row_.id(place); }
    auto share() const
        requires(detail::Blocks<View>::is_split)
    {
        return row_.share().changed();
    }
    double operator[](Index place) const { return detail::is_among(without_, row_.id(place)) ? 0 : row_[place]; }
    bool are_in_halves() const
        requires(detail::is_entries_row<View>)
    {
        return row_.are_in_halves();
    }

    /// Return the sum over a range, in which the removed ids weigh 0: subtracting their weights would leave rounding
    /// errors.
    double sum(Index first, Index count) const {
        const auto is_inside = [&](Token id) {
            const Index place = row_.place_of(id);
            return place >= first && place < first + count;
        };
        if (std::none_of(without_.begin(), without_.end(), is_inside)) return row_.sum(first, count);
        typename detail::Blocks<View>::Buffer left;
        double total = 0;
        detail::for_blocks(first, count, [&](Index begin, Index n) {
            const auto* const block = row_.row().read(begin, n, left);
            if (block != left.data()) std::copy_n(block, n, left.data());
            for (const Token id : without_)
                if (const Index at = row_.place_of(id) - begin; at >= 0 && at < n) left[at] = 0;
            total += detail::block_sum<typename detail::Blocks<View>::Value>(
                n, [](const auto& x) { return x; }, left.data());
        });
        return total;
    }

  private:
    RowWeights<View> row_;
    std::span<const Token> without_;
};

/// Return the weights that a row is drawn from: the row itself, or the weights of its logits, which need no normaliser.
template <RowLike R>
auto row_weights(const R& row) {
    if constexpr (detail::form_of<R>.logits)
        return row.weights();
    else
        return RowWeights(detail::as_row(row));
}
/// Refuse a temporary row that owns its numbers: the weights would view memory that is gone.
template <RowLike R>
    requires detail::owns<R>
void row_weights(const R&& row) = delete;

/// Return weights for a race. Logits need no normaliser, because only their scale counts. Weights race unchanged.
template <Weights W>
const W& race_weights(const W& weights) {
    return weights;
}
template <RowLike R>
auto race_weights(const R& row) {
    if constexpr (detail::form_of<R>.logits)
        return RowWeights(row.unnormalised());
    else
        return RowWeights(detail::as_row(row));
}
template <RowLike R>
    requires detail::owns<R>
void race_weights(const R&& row) = delete;

/// Return the probabilities of a row whose weights were summed by a draw.
template <RowLike R, Weights W>
detail::row_view_t<R> probs_of(const R& row, const W& weights) {
    if constexpr (detail::form_of<R>.logits)
        return weights.probs();
    else
        return detail::as_row(row);
}
template <RowLike R, Weights W>
    requires detail::owns<R>
void probs_of(const R&& row, const W& weights) = delete;

}  // namespace kernels

}}  // namespace specsample

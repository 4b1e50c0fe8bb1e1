// The weights of a row of logits.
//
//   LogitWeights      exp((z - pivot) / T), summed in one pass: a token is drawn from them without a normaliser
//   log_sum_exp(row)  ln sum exp(z / T)
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include <specsample/core/number.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/kernels/draw.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return log2(e) / T, clamped to the positive normal numbers of the scalar, because 0 * inf is NaN. For double the
/// upper bound is 2^1000, because a race multiplies logits by the scale in double.
template <class Value>
double exponent_scale(double temperature) {
    return std::clamp(std::numbers::log2e / temperature, double{std::numeric_limits<Value>::min()},
                      std::min(double{std::numeric_limits<Value>::max()}, 0x1p1000));
}

/// Return the encoding of logits whose normaliser the caller states.
template <class Value>
Encoding<Value> stated_encoding(double temperature, double log_sum_exp) {
    const double scale = exponent_scale<Value>(temperature);
    // The pivot is clamped and rounded to a finite number of the scalar. The factor corrects for both, at the
    // temperature that the scale stands for: at most `hottest`, because no scale is below the smallest normal number.
    constexpr double most = std::numeric_limits<Value>::max();
    constexpr double hottest = std::numbers::log2e / double{std::numeric_limits<Value>::min()};
    const double pivot = static_cast<Value>(std::clamp(log_sum_exp * temperature, -most, most));
    const double factor = std::exp2((pivot / std::min(temperature, hottest) - log_sum_exp) * std::numbers::log2e);
    return Encoding<Value>(pivot, scale, factor).as_given();
}

}  // namespace detail

namespace kernels {

/// The weights exp((z - pivot) / T) of logits, summed.
///
/// The pivot is the largest logit of the first block, which is near the largest of all and costs no pass to find. If it
/// is so far off that the sum overflows or underflows, the pass is made again with the largest logit of all. At T = 0
/// all weight is on the largest logit, the lowest id on ties.
///
/// @cost   one pass, rarely three; at T = 0 the pass of an argmax
/// @edge   logits that name no distribution (a NaN, +inf, all -inf) have no positive total
template <class View, class Ids = detail::EveryId>
class LogitWeights {
    using Value = detail::Compute<typename View::Scalar>;
    using Encoding = detail::Encoding<Value>;
    using Entries = detail::Entries<View, Ids>;

  public:
    /// Sum the weights of the logits of `ids`, by default of every id of the vocabulary.
    LogitWeights(const View& logits, double temperature, Index vocab, const Ids& ids = {})
        : entries_(logits, ids, vocab, {}) {
        if (temperature == 0) {
            sum(Encoding::peak(detail::largest_id(detail::Blocks(logits))));
            return;
        }
        scale_ = detail::exponent_scale<Value>(temperature);
        const detail::Blocks numbers(logits);
        sum_from(detail::largest(numbers, 0, std::min(detail::block_size, numbers.size())));
        // The pivot itself weighs 1, unless the first block is all masked: then the other weights may underflow.
        constexpr double too_large = 0x1p64;  // its inverse must be a normal number
        if (!(total() >= 1 && total() < too_large)) sum_from(detail::largest(numbers, 0, numbers.size()));
    }

    /// Sum entries as they are encoded.
    explicit LogitWeights(const Entries& entries) : entries_(entries) { sum(entries.encoding()); }

    // Weights.
    Index size() const { return sums_->size(); }
    Index id(Index place) const { return sums_->id(place); }
    double operator[](Index place) const { return (*sums_)[place]; }
    double sum(Index first, Index count) const { return sums_->sum(first, count); }
    double total() const { return sums_->total(); }
    const RunningSums& sums() const { return sums_->sums(); }
    Index pick(double u) const { return sums_->pick(u); }

    /// Return the encoding of the probabilities, which are the weights divided by their total.
    Encoding encoding() const { return scale_ == 0 ? entries_.encoding() : Encoding(pivot_, scale_, 1 / total()); }
    auto probs() const {
        Entries entries = entries_;
        entries.mean(encoding());
        return entries.row();
    }

    /// Return ln sum exp(z / T).
    double log_sum_exp() const { return (pivot_ * scale_ + std::log2(total())) * std::numbers::ln2; }

  private:
    void sum_from(double pivot) {
        pivot_ = detail::is_finite(pivot) ? pivot : 0;
        sum({pivot_, scale_, 1});
    }
    void sum(const Encoding& encoding) {
        entries_.mean(encoding);
        sums_.emplace(RowWeights(entries_.row()));
    }

    Entries entries_;
    double scale_ = 0;
    double pivot_ = 0;
    std::optional<BlockSums<RowWeights<decltype(std::declval<const Entries&>().row())>>> sums_;
};

/// Return ln sum_x exp(z(x)) of a row of logits; for Logits at temperature T, ln sum_x exp(z(x) / T).
/// @cost   one pass
/// @edge   -inf if all are masked, NaN for a row that defines no distribution
template <RowLike R>
double log_sum_exp(const R& logits) {
    if constexpr (detail::form_of<R>.logits) {
        return logits.weights().log_sum_exp();
    } else {
        return LogitWeights(detail::as_row(logits), 1, detail::row_size(logits)).log_sum_exp();
    }
}

}  // namespace kernels

}}  // namespace specsample

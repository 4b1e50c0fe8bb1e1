// The weights of a row of logits.
//
//   LogitWeights      exp((z - pivot) / T), summed in one pass: a token is drawn from them without a normaliser
//   LogitSums         the sums alone, to be kept with the row: nobody makes the pass again
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

/// The sums of a row of logits at a temperature, which one pass finds and Logits takes.
///
///     for each row, where it is in a cache:  sums[i] = kernels::LogitSums(row(i), temperature);
///     verify(tokens, distributions, [&](Index i) { return Logits(row(i), sums[i]); }, rule, rng);
///
/// An engine makes them when its last layer has written the row, on as many threads as it likes. A round then reads no
/// row but for a block where a token is drawn, and writes the same tokens as without them.
struct LogitSums {
    LogitSums() = default;

    /// @param logits   [vocab] logits; -inf is probability 0
    /// @param at       the temperature >= 0; 0 is the argmax, lowest id on ties
    /// @throws         std::invalid_argument for a negative or non-finite temperature
    /// @cost           as LogitWeights; 4 kB of memory
    template <RowLike R>
    explicit LogitSums(const R& logits, double at = 1);

    Index size = 0;                     ///< of the row
    double temperature = 1;             ///< of the logits
    detail::Encoding<double> encoding;  ///< of the weights: a pivot and a scale, or a peak
    RunningSums sums;
};

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
    /// @param each   room for the sum of every block, or null
    LogitWeights(const View& logits, double temperature, Index vocab, const Ids& ids = {}, double* each = nullptr)
        : entries_(logits, ids, vocab, {}), each_(each) {
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

    /// Take the sums of a pass over these logits that was made before.
    LogitWeights(const View& logits, const LogitSums& known, Index vocab, const Ids& ids = {})
        : entries_(logits, ids, vocab, {}), pivot_(known.encoding.pivot()) {
        if (!known.encoding.is_peak()) scale_ = known.encoding.scale();
        entries_.mean(Encoding(known.encoding));
        sums_.emplace(RowWeights(entries_.row()), known.sums);
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
    Encoding weights_encoding() const { return entries_.encoding(); }  ///< of the weights before they are divided
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
        sums_.emplace(RowWeights(entries_.row()), each_);
    }

    Entries entries_;
    double* each_ = nullptr;
    double scale_ = 0;
    double pivot_ = 0;
    std::optional<BlockSums<RowWeights<decltype(std::declval<const Entries&>().row())>>> sums_;
};

template <RowLike R>
LogitSums::LogitSums(const R& logits, double at) : size(detail::row_size(logits)), temperature(at) {
    detail::require(detail::is_finite(at) && at >= 0, "LogitSums", "temperature", at, "a finite number >= 0");
    const LogitWeights weights(detail::as_row(logits), at, size);
    encoding = detail::Encoding<double>(weights.weights_encoding());
    sums = weights.sums();
}

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

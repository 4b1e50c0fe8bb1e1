// The weights of a row of logits.
//
//   LogitWeights      exp((z - pivot) / T), summed in one pass: a token is drawn from them without a normaliser
//   LogitSums         the sums alone, to be kept with the row: nobody makes the pass again
//   log_sum_exp(row)  ln sum exp(z / T)
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
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

/// Return the logit that the first pass over a row takes as its pivot: the largest of the first block.
template <class View>
double first_pivot(const View& logits) {
    const Blocks numbers(logits);
    const double pivot = largest(numbers, 0, std::min(block_size, numbers.size()));
    return is_finite(pivot) ? pivot : 0;
}

inline double checked_temperature(double temperature) {
    require(is_finite(temperature) && temperature >= 0, "LogitSums", "temperature", temperature,
            "a finite number >= 0");
    return temperature;
}

/// Return whether a sum of weights relative to a pivot neither overflowed nor underflowed. The pivot itself weighs 1,
/// unless the first block is all masked: then the other weights may underflow.
inline bool is_total_near_pivot(double total) {
    constexpr double too_large = 0x1p64;  // its inverse must be a normal number
    return total >= 1 && total < too_large;
}

/// Weights whose blocks are made one by one, each before it is summed.
template <class W, class Make>
struct MadeWeights {
    W weights;
    const Make& make_up_to;

    Index size() const { return weights.size(); }
    double operator[](Index place) const { return weights[place]; }
    double sum(Index first, Index count) const {
        make_up_to(first + count);
        return weights.sum(first, count);
    }
};
template <class W, class Make>
MadeWeights(W, const Make&) -> MadeWeights<W, Make>;  // clang 16 has no deduction for aggregates

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

    /// Sum a row while the last layer of a model makes it, so that each block is summed in the nearest cache. The
    /// finished row has the same sums, to the bit.
    ///
    ///     sums[i] = kernels::LogitSums(std::span(row), temperature, [&](Index first, std::span<float> block) {
    ///         for (float& logit : block) logit = head.row(first++).dot(state);
    ///     });
    ///
    /// @param logits   [vocab] memory of the row: a std::span
    /// @param make     make(first, block) writes the logits of the ids [first, first + block.size()) to `block`, a part
    ///                 of `logits`. It is called for blocks of 512 ids, or a multiple in a vocabulary above 262144,
    ///                 each once and in order
    /// @cost           what `make` takes, and an exponential per logit; rarely two more passes
    template <class Scalar, std::size_t extent, class Make>
        requires(RowLike<std::span<Scalar>> && std::invocable<Make&, Index, std::span<Scalar>>)
    LogitSums(std::span<Scalar, extent> logits, double at, Make&& make);
    template <class Memory, class Make>
    LogitSums(const Memory&, double, Make&&) {
        static_assert(
            sizeof(Memory) == 0,
            "specsample::LogitSums: the first argument must be a std::span of the row's memory, and the third "
            "make(first, block), which writes the logits from id `first` on; write LogitSums(std::span(row), "
            "temperature, [&](specsample::Index first, std::span<float> block) { .. })");
    }

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
        sum_from(detail::first_pivot(logits));
        if (!detail::is_total_near_pivot(total())) sum_from(detail::largest(numbers, 0, numbers.size()));
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
LogitSums::LogitSums(const R& logits, double at)
    : size(detail::row_size(logits)), temperature(detail::checked_temperature(at)) {
    const LogitWeights weights(detail::as_row(logits), at, size);
    encoding = detail::Encoding<double>(weights.weights_encoding());
    sums = weights.sums();
}

template <class Scalar, std::size_t extent, class Make>
    requires(RowLike<std::span<Scalar>> && std::invocable<Make&, Index, std::span<Scalar>>)
LogitSums::LogitSums(std::span<Scalar, extent> logits, double at, Make&& make)
    : size(detail::row_size(logits)), temperature(detail::checked_temperature(at)) {
    using Value = detail::Compute<Scalar>;
    const std::span<Scalar> memory(logits);
    const auto row = detail::as_row(memory);
    const Index step = detail::block_length(row.size());
    Index made = 0;
    const auto make_up_to = [&](Index end) {
        for (Index next; made < std::min(end, row.size()); made = next) {
            next = std::min(made + step, row.size());
            make(made, memory.subspan(static_cast<std::size_t>(made), static_cast<std::size_t>(next - made)));
        }
    };
    if (at > 0) {
        make_up_to(step);
        const detail::Encoding<Value> power(detail::first_pivot(row), detail::exponent_scale<Value>(at), 1);
        const auto entries = detail::Entries(row, detail::EveryId{}, row.size(), power).row();
        const detail::MadeWeights weights{RowWeights(entries), make_up_to};
        sums.sum(weights);
        encoding = detail::Encoding<double>(power);
        if (detail::is_total_near_pivot(sums.total)) return;
    }
    make_up_to(row.size());
    *this = LogitSums(memory, at);
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

// The encoding of a row: how its stored numbers become weights.
#pragma once

#include <cmath>
#include <numbers>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Maps a stored number to its weight: probabilities, logits, or all weight on one place.
template <class Value>
class Encoding {
  public:
    /// Read the numbers as probabilities.
    Encoding() = default;

    /// Read the numbers as logits: x has weight factor * 2^((x - pivot) * scale).
    Encoding(double pivot, double scale, double factor)
        : kind_(Kind::logit), factor_(factor), pivot_(static_cast<Value>(pivot)), scale_(static_cast<Value>(scale)) {}

    /// Read the numbers of another scalar by the same formula.
    template <class Other>
    explicit Encoding(const Encoding<Other>& other)
        : kind_(other.is_peak()    ? Kind::peak
                : other.is_logit() ? Kind::logit
                                   : Kind::probability),
          is_given_(other.is_given()),
          is_refused_(other.is_refused()),
          factor_(other.factor()),
          peak_(other.peak()),
          pivot_(static_cast<Value>(other.pivot())),
          scale_(static_cast<Value>(other.scale())) {}

    /// Put all weight on one place; on none for -1.
    static Encoding peak(Index place) {
        Encoding encoding;
        encoding.kind_ = Kind::peak;
        encoding.peak_ = place;
        return encoding;
    }

    /// Return this encoding, marked as having a factor given by the caller: nobody has checked that the weights sum to
    /// 1.
    Encoding as_given() const {
        Encoding encoding = *this;
        encoding.is_given_ = true;
        return encoding;
    }

    /// Return this encoding, marked as refused: code that saw the whole row found a fault in it.
    Encoding as_refused() const {
        Encoding encoding = *this;
        encoding.is_refused_ = true;
        return encoding;
    }

    bool is_probability() const { return kind_ == Kind::probability; }
    bool is_given() const { return is_given_; }
    bool is_refused() const { return is_refused_; }

    /// Return whether the row is of logits that define no distribution, which their normaliser shows.
    bool is_bad() const { return kind_ == Kind::peak ? peak_ < 0 : kind_ == Kind::logit && !is_positive(factor_); }

    Value weight(Value x, Index place) const {
        if (kind_ == Kind::logit) return power()(x);
        return kind_ == Kind::probability ? x : static_cast<Value>(place == peak_ ? 1 : 0);
    }

    /// Return ln of the weight, also where the weight itself underflows.
    double log_weight(Value x, Index place) const {
        if (kind_ != Kind::logit) return std::log(static_cast<double>(weight(x, place)));
        return (static_cast<double>(x) - static_cast<double>(pivot_)) * static_cast<double>(scale_) *
                   std::numbers::ln2 +
               std::log(factor_);
    }

    bool is_logit() const { return kind_ == Kind::logit; }
    /// Return the factor that turns logits into exponents: x has a weight in proportion to 2^(x * scale).
    double scale() const { return static_cast<double>(scale_); }

    /// Return the weight of a logit that equals the pivot; pivot() returns that logit.
    double factor() const { return factor_; }
    double pivot() const { return static_cast<double>(pivot_); }
    /// Return whether all weight is on one place; peak() returns that place.
    bool is_peak() const { return kind_ == Kind::peak; }
    Index peak() const { return peak_; }

    bool operator==(const Encoding&) const = default;

    /// Return the power that maps a logit to its weight.
    auto power() const;  // kernels/entries.hpp defines it

    /// Return the place with all weight, counted from `first`; -1 if it is not in [first, first + count).
    Index peak_in(Index first, Index count) const {
        return peak_ >= first && peak_ < first + count ? peak_ - first : -1;
    }

  private:
    enum class Kind { probability, logit, peak };

    Kind kind_ = Kind::probability;
    bool is_given_ = false;
    bool is_refused_ = false;
    double factor_ = 1;
    Index peak_ = -1;
    Value pivot_ = 0;
    Value scale_ = 1;
};

}}}  // namespace specsample::detail

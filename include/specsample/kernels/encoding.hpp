// What the numbers of a row mean.
#pragma once

#include <cmath>
#include <numbers>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>
#include <specsample/kernels/exp2.hpp>

namespace specsample::detail {

/// How a stored number becomes a weight.
template <class Value>
class Encoding {
  public:
    /// As it is: a probability.
    Encoding() = default;

    /// A logit x: factor * 2^((x - pivot) * scale).
    Encoding(double pivot, double scale, double factor)
        : kind_(Kind::logit), factor_(factor), pivot_(static_cast<Value>(pivot)), scale_(static_cast<Value>(scale)) {}

    /// All weight on one place, -1 for none.
    static Encoding peak(Index place) {
        Encoding encoding;
        encoding.kind_ = Kind::peak;
        encoding.peak_ = place;
        return encoding;
    }

    /// The same, where somebody else says what the factor is: nobody has seen that the weights sum to 1.
    Encoding as_given() const {
        Encoding encoding = *this;
        encoding.is_given_ = true;
        return encoding;
    }

    /// The same, where somebody who saw the whole row has refused it.
    Encoding as_refused() const {
        Encoding encoding = *this;
        encoding.is_refused_ = true;
        return encoding;
    }

    bool is_probability() const { return kind_ == Kind::probability; }
    bool is_given() const { return is_given_; }
    bool is_refused() const { return is_refused_; }

    /// Can this row of logits be one of probabilities? Its normaliser tells.
    bool is_bad() const { return kind_ == Kind::peak ? peak_ < 0 : kind_ == Kind::logit && !is_positive(factor_); }

    Value weight(Value x, Index place) const {
        if (kind_ == Kind::logit) return power()(x);
        return kind_ == Kind::probability ? x : static_cast<Value>(place == peak_ ? 1 : 0);
    }

    /// ln of it, where the weight itself would be lost.
    double log_weight(Value x, Index place) const {
        if (kind_ != Kind::logit) return std::log(static_cast<double>(weight(x, place)));
        return (static_cast<double>(x) - static_cast<double>(pivot_)) * static_cast<double>(scale_) *
                   std::numbers::ln2 +
               std::log(factor_);
    }

    bool is_logit() const { return kind_ == Kind::logit; }

    /// Of a logit. Made anew for every block: it is larger than what it is made from, and a row is copied more often.
    ScaledExp2<Value> power() const { return ScaledExp2<Value>(pivot_, scale_, static_cast<Value>(factor_)); }

    /// The one place of [first, first + count) that has all weight, counted from first; -1 where it is not there.
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

}  // namespace specsample::detail

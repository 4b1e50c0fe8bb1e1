// Where a draft ends by what it sees of itself.
//
//   ConfidenceStop   after a token that was unlikely
//   EntropyStop      before a row that is undecided
//
// A stop is asked twice for each token: stop.before(row), may nothing be drawn from this row? and stop.after(prob), is
// the token that was drawn with this probability the last one? Both answers keep the distribution, for every rule: the
// first knows nothing of a token yet, the second keeps the token it has seen. Dropping a drafted token for its own
// probability would not: on three tokens that is a total variation of 1/10 to 3/20.
#pragma once

#include <cmath>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/entropy.hpp>

namespace specsample {

/// Stop after a token whose probability in the draft is below a threshold. The token is kept.
/// @edge   threshold 0: never; 1: after every token that was not certain
/// @source transformers, assistant_confidence_threshold; its default is .4
class ConfidenceStop {
  public:
    /// @throws std::invalid_argument unless 0 <= threshold <= 1
    explicit ConfidenceStop(double threshold = 0.4) : threshold_(threshold) {
        detail::require(detail::is_finite(threshold) && threshold >= 0 && threshold <= 1, "ConfidenceStop", "threshold",
                        threshold, "in [0, 1]");
    }

    template <Row R>
    bool before(const R&) const {
        return false;
    }
    bool after(double prob) const { return prob < threshold_; }

  private:
    double threshold_;
};

/// Stop before a row q whose entropy is large: sqrt(H(q)) > h, H in nats.
///
/// The square root is what Pinsker's inequality makes of an entropy: acceptance is 1 - sqrt(KL / 2) at least, and the
/// divergence of target and draft grows with H.
///
/// @cost   a pass over the row, with a logarithm per entry
/// @edge   h 0: before every row that is not certain; a row with a NaN stops nothing, so that drawing from it finds it
/// @source SVIP, arXiv:2411.18462
class EntropyStop {
  public:
    /// @throws std::invalid_argument unless h is finite and 0 or more
    explicit EntropyStop(double h) : largest_(h * h) {
        detail::require(detail::is_finite(h) && h >= 0, "EntropyStop", "h", h, "finite and 0 or more");
    }

    /// The rule of AdaEDL: stop where its estimate of the acceptance, 1 - sqrt(gamma H(q)), is below `least`.
    /// @param least   lambda, in [0, 1]
    /// @param gamma   how fast acceptance falls with entropy, above 0
    /// @throws        std::invalid_argument outside these ranges
    /// @source        AdaEDL, arXiv:2410.18351
    static EntropyStop below_acceptance(double least, double gamma) {
        constexpr auto where = "EntropyStop::below_acceptance";
        detail::require(detail::is_finite(least) && least >= 0 && least <= 1, where, "least", least, "in [0, 1]");
        detail::require(detail::is_positive(gamma), where, "gamma", gamma, "finite and above 0");
        return EntropyStop((1 - least) / std::sqrt(gamma));
    }

    template <Row R>
    bool before(const R& row) const {
        const double nats = kernels::entropy(row);
        return !detail::is_nan(nats) && nats > largest_;
    }
    static bool after(double) { return false; }

  private:
    double largest_;
};

}  // namespace specsample

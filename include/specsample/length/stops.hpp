// Stops that end a draft early, by the draft's own rows and tokens.
//
//   ConfidenceStop   ends the draft after a token that was unlikely
//   EntropyStop      ends the draft before a row of large entropy
//
// A drafter asks a stop twice per token: stop.before(row): does the draft end before a token is drawn from this row?
// and stop.after(prob): does it end after the token just drawn, which had this probability? Both questions are lossless
// under every rule: the first is answered before a token is drawn, the second keeps the token that was drawn. Dropping
// a drafted token because of its own probability is not lossless: on three tokens its total variation is 1/10 to 3/20.
#pragma once

#include <cmath>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/entropy.hpp>
#include <specsample/rows/returned.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Stop after a token whose draft probability is below a threshold. The token is kept.
/// @edge     threshold 0: never stops; 1: stops after every token of probability below 1
/// @source   transformers, assistant_confidence_threshold; its default is .4
class ConfidenceStop {
  public:
    /// @throws std::invalid_argument unless 0 <= threshold <= 1
    explicit ConfidenceStop(double threshold = 0.4) : threshold_(threshold) {
        detail::require(detail::is_finite(threshold) && threshold >= 0 && threshold <= 1, "ConfidenceStop", "threshold",
                        threshold, "in [0, 1]");
    }

    /// Never stop before a row.
    template <detail::AnyRow R>
    bool before(const R&) const {
        return false;
    }
    /// Tell whether the draft ends after a token drawn with this probability.
    bool after(double prob) const { return prob < threshold_; }

  private:
    double threshold_;
};

/// Stop before a row q whose entropy is large: sqrt(H(q)) > h, H in nats.
///
/// The square root comes from Pinsker's inequality: the acceptance is at least 1 - sqrt(KL / 2), and the divergence of
/// target and draft grows with H.
///
/// @cost     a pass over the row, with a logarithm per entry
/// @edge     h = 0: stops before every row that is not one-hot. A row with a NaN does not stop the draft, so that the
///           fault is found when it is drawn from
/// @source   SVIP, arXiv:2411.18462
class EntropyStop {
  public:
    /// @throws std::invalid_argument unless h is finite and 0 or more
    explicit EntropyStop(double h) : largest_(h * h) {
        detail::require(detail::is_finite(h) && h >= 0, "EntropyStop", "h", h, "finite and 0 or more");
    }

    /// Make the stop of AdaEDL: before a row whose estimated acceptance, 1 - sqrt(gamma H(q)), is below `least`.
    /// @param least   lambda, in [0, 1]
    /// @param gamma   above 0: the larger, the faster the estimate falls with the entropy
    /// @throws        std::invalid_argument outside these ranges
    /// @source        AdaEDL, arXiv:2410.18351
    static EntropyStop below_acceptance(double least, double gamma) {
        constexpr auto where = "EntropyStop::below_acceptance";
        detail::require(detail::is_finite(least) && least >= 0 && least <= 1, where, "least", least, "in [0, 1]");
        detail::require(detail::is_positive(gamma), where, "gamma", gamma, "finite and above 0");
        return EntropyStop((1 - least) / std::sqrt(gamma));
    }

    /// Tell whether the draft ends before this row.
    template <detail::AnyRow R>
    bool before(const R& row) const {
        const double nats = detail::with_row(row, [](const auto& given) { return kernels::entropy(given); });
        return !detail::is_nan(nats) && nats > largest_;
    }
    /// Never stop after a token.
    static bool after(double) { return false; }

  private:
    double largest_;
};

}}  // namespace specsample

// Acceptance by the confidence of the draft model: how likely a token is to be accepted, given the largest probability
// of the row that it is drawn from.
//
//   confidence::of(row)       the largest probability of a row
//   confidence::Estimator     learns from rounds what a confidence is worth
//   confidence::GoodputStop   ends a draft where a further token would cost more than it is expected to give
//
// All of it is lossless: a token is admitted by the row that it is drawn from and by earlier rounds, and never by what
// it is. theory::verify_lengths chooses in the same way for a batch of drafts that were made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/row.hpp>
#include <specsample/core/tally.hpp>
#include <specsample/kernels/argmax.hpp>
#include <specsample/rows/returned.hpp>
#include <specsample/theory/speedup.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace confidence {

/// Return the largest probability of a row; 0 for a row without one, such as logits that have no normaliser.
/// @cost   a pass, two over logits whose normaliser is not known
template <detail::AnyRow R>
double of(const R& row) {
    return detail::with_row(row, [](const auto& given) {
        const auto probs = detail::as_row(given);
        const Index likeliest = kernels::argmax(probs);
        return likeliest < 0 ? 0 : static_cast<double>(probs.coeff(likeliest));
    });
}

/// Estimates the probability that a drafted token is accepted, given that those before it were, from the confidence c
/// of the row that it is drawn from:
///
///     sigmoid(a logit(c) + b + b_k)      k: the position of the token in its draft
///
/// It begins with a = 1 and b = b_k = 0, which is c itself, and takes a damped Newton step for every decision of a
/// round. Old decisions lose their weight, so that it follows a text that changes; b does so for positions that are
/// seldom reached.
///
/// Requests of one kind may share a key. What is learned under a key changes the lengths of all drafts under it, and
/// with them the texts of their seeds, though never a distribution: requests that must not depend on each other need
/// keys of their own.
///
/// @cost     O(1) per decision; memory: 24 bytes per key and position
/// @source   vLLM, pull request 52228
class Estimator {
  public:
    /// @param memory   decisions after which the weight of a decision has fallen to 1/e, above 1
    /// @throws         std::invalid_argument for another number
    explicit Estimator(double memory = 1000) : keep_(1 - 1 / memory) {
        detail::require(detail::is_finite(memory) && memory > 1, "confidence::Estimator", "memory", memory,
                        "a finite number above 1");
    }

    /// Return the estimate for a token.
    /// @param position     its place in the draft, from 0
    /// @param confidence   in [0, 1]
    /// @throws             std::invalid_argument outside these ranges
    double acceptance(Index position, double confidence, std::uint64_t key = 0) const {
        detail::require_length("confidence::Estimator", "position", position, 0);
        const auto known = classes_.find(key);
        if (known == classes_.end()) return sigmoid(logit(confidence));
        return known->second.acceptance(position, logit(confidence));
    }

    /// Learn from a round: from every token that it decided. A round with a fault teaches nothing.
    /// @param confidences   one per drafted token, at least `round.evaluated`
    /// @throws              std::invalid_argument for fewer, or for one outside [0, 1]
    void record(std::span<const double> confidences, const RoundCounts& round, std::uint64_t key = 0) {
        if (round.fault) return;
        detail::require(std::ssize(confidences) >= round.evaluated, "confidence::Estimator",
                        "the number of confidences", std::ssize(confidences), "at least that of decided tokens");
        for (Index k = 0; k < round.evaluated; ++k)
            classes_[key].learn(k, logit(confidences[static_cast<std::size_t>(k)]), k < round.accepted, keep_);
    }

    /// Forget what was learned under a key.
    void forget(std::uint64_t key) { classes_.erase(key); }

  private:
    /// A parameter, and how much is known of it: the curvature of what it explains, the prior's included.
    struct Parameter {
        double value, prior, weight = prior;

        void step(double gradient, double curvature, double keep) {
            weight = prior + keep * (weight - prior) + curvature;
            value += gradient / weight;
        }
    };

    struct Class {
        Parameter slope{1, 20}, intercept{0, 4};
        std::vector<Parameter> at{};  // the positions

        double acceptance(Index position, double z) const {
            const double here = position < std::ssize(at) ? at[static_cast<std::size_t>(position)].value : 0;
            return sigmoid(slope.value * z + intercept.value + here);
        }

        void learn(Index position, double z, bool accepted, double keep) {
            const double expected = acceptance(position, z);
            const double error = (accepted ? 1 : 0) - expected, curvature = expected * (1 - expected);
            if (position >= std::ssize(at)) at.resize(static_cast<std::size_t>(position) + 1, {0, 20});
            slope.step(error * z, curvature * z * z, keep);
            intercept.step(error, curvature, keep);
            at[static_cast<std::size_t>(position)].step(error, curvature, keep);
        }
    };

    static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
    /// Return ln(c / (1 - c)), within what a decision can still move.
    static double logit(double confidence) {
        detail::require(detail::is_finite(confidence) && confidence >= 0 && confidence <= 1, "confidence::Estimator",
                        "confidence", confidence, "in [0, 1]");
        constexpr double most = 5;
        return std::clamp(std::log(confidence / (1 - confidence)), -most, most);
    }

    double keep_;
    std::unordered_map<std::uint64_t, Class> classes_{};
};

/// Ends a draft before a token whose verification is expected to cost more than it gives, and learns from every round
/// what the draft model's confidence is worth: a DraftStop and a Length in one object, which both take by reference.
///
///     confidence::GoodputStop stop(estimator, verify_cost, draft_cost);
///     Sampler sampler(ChainDrafter(draft, std::ref(stop)), target, options, TokenVerification{}, std::ref(stop));
///
/// A token of survival s, the product of the estimates up to it, is drafted while
///
///     (1 + sum s) / (verify_cost(1 + tokens) + draft_cost (draft passes))
///
/// rises with it. The draft may end earlier than the best length, because looking past a fall is what is biased.
///
/// @tparam Cost   as in theory::speedup: the cost of a target pass over n positions
/// @cost          confidence::of(row) per drafted token
template <theory::VerifyCost Cost>
class GoodputStop {
  public:
    /// @param estimator     what it learns; must outlive this object
    /// @param verify_cost   in the unit of draft_cost
    /// @param draft_cost    of a pass of the draft model, >= 0
    /// @param key           under which it learns
    /// @throws              std::invalid_argument for a draft_cost out of range
    GoodputStop(Estimator& estimator, Cost verify_cost, double draft_cost, std::uint64_t key = 0)
        : estimator_(estimator), verify_cost_(std::move(verify_cost)), draft_cost_(draft_cost), key_(key) {
        detail::require(detail::is_finite(draft_cost) && draft_cost >= 0, "confidence::GoodputStop", "draft_cost",
                        draft_cost, "a finite number >= 0");
    }
    GoodputStop(const GoodputStop&) = delete;

    /// Begin a draft.
    void begin() const {
        confidences_.clear();
        survival_ = tokens_ = 1;
    }

    /// Tell whether the draft ends before this row.
    template <detail::AnyRow R>
    bool before(const R& row) const {
        const double confidence = std::min(of(row), 1.);
        const Index drafted = std::ssize(confidences_);
        const double survival = survival_ * estimator_.acceptance(drafted, confidence, key_);
        const double passes = draft_cost_ * static_cast<double>(drafted + 1);  // that of this row was made
        const double cost = pass_cost(drafted + 1) + passes, with_it = pass_cost(drafted + 2) + passes;
        if (!((tokens_ + survival) / with_it > tokens_ / cost)) return true;
        confidences_.push_back(confidence);
        survival_ = survival;
        tokens_ += survival;
        return false;
    }
    /// Never end it after a token.
    static bool after(double) { return false; }

    /// Return the lookahead of the next round: `most`.
    static Index next(Index most) { return most; }
    /// Learn from the round of the last draft. A round that another drafter has drafted teaches nothing.
    void record(const RoundCounts& round) {
        if (round.evaluated <= std::ssize(confidences_)) estimator_.record(confidences_, round, key_);
        confidences_.clear();
    }

  private:
    double pass_cost(Index positions) const {
        return detail::pass_cost("confidence::GoodputStop", verify_cost_, positions);
    }

    Estimator& estimator_;
    Cost verify_cost_;
    double draft_cost_;
    std::uint64_t key_;
    mutable std::vector<double> confidences_{};  // of the draft that is being made
    mutable double survival_ = 1, tokens_ = 1;
};

}}}  // namespace specsample::confidence

// The weight of the future: what turns a grammar's rows, each projected on its own, into the distribution of the
// model's texts given that they follow the grammar.
//
// Park et al.: "Grammar-aligned decoding", NeurIPS 2024 (arXiv:2405.21047), section 3: the expected future
// grammaticality of a prefix.
#pragma once

#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/change.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Multiply the probability of each candidate by a weight of the texts that may follow it, and normalise.
///
///     FutureWeights future([&](std::span<const Token> context, Token token) { return log_valid(context, token); });
///     shaped(target, Pipeline{Temperature(.8), grammar, future})
///
/// Let the weight of a token be the probability that the model, which continues the context and this token without a
/// grammar, writes a text that is valid. Then the texts have the distribution of the model's texts given that they are
/// valid. A grammar's mask is the weight that is 1 where this probability is positive, which gives another
/// distribution. With an estimate of the probability, the distribution is as good as the estimate. Rules are
/// lossless with respect to whatever this filter returns, because it is a function of the text.
///
/// It belongs after the temperature, the filters and the masks: the weight is that of the shaped model, and a later
/// temperature would change it.
///
/// @tparam F   weight(context, token) returns the natural logarithm of the weight, -inf for a weight of 0. Weights are
///             relative to each other: a constant added to all weights of one context changes nothing
/// @cost       a call of `weight` per candidate that is possible, so put filters that leave few of them before it.
///             Ranks gather the whole row
/// @throws     std::invalid_argument if `weight` returns NaN or +inf
/// @edge       no candidate with a positive weight: the row is a fault of the target (Cause::all_masked). Temperature
///             0: the largest logit among the candidates of positive weight
template <class F>
class FutureWeights {
    static_assert(std::is_invocable_r_v<double, const F&, std::span<const Token>, Token>,
                  "specsample::filters::FutureWeights: weight must be callable as weight(context, token), with a "
                  "std::span<const Token> and a Token, and return the logarithm of a weight");

  public:
    explicit FutureWeights(F weight) : weight_(std::move(weight)) {}

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        constexpr Value impossible = -std::numeric_limits<Value>::infinity();
        const double temperature = row.temperature_of_weights();
        const std::span<Value> logits = row.change_logits();
        for (Index place = 0; place < std::ssize(logits); ++place) {
            Value& logit = logits[static_cast<std::size_t>(place)];
            if (!detail::is_finite(static_cast<double>(logit))) continue;  // impossible already
            const auto token = static_cast<Token>(row.id(place));
            const double weight = weight_(context, token);
            if (detail::is_nan(weight) || detail::is_infinity(weight))
                detail::invalid("FutureWeights", "the log weight of token " + detail::to_text(token), weight,
                                "a finite number or -inf");
            const auto weighed = [&](double z) { return z + detail::rounded(temperature * weight); };
            logit = detail::is_finite(weight) ? detail::changed_logit(logit, weighed) : impossible;
        }
    }

  private:
    F weight_;
};

}}}  // namespace specsample::filters

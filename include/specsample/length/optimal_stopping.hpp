// Optimal stopping of a draft, given estimates of the acceptance of the tokens drafted so far.
//
//   pays_to_draft(survival, draft_cost, rate)   the stopping rule
//   best_rate(draft_cost, round_at)             the rate of tokens that the rule needs, and then attains
//
// Monotone stopping: Chow and Robbins 1961; SpecDec++ (arXiv:2405.19715); the rate: Dinkelbach 1967.
#pragma once

#include <concepts>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

namespace detail {

/// The expected tokens and cost of a round.
struct RoundMeans {
    double tokens = 1;  ///< emitted, the last one included
    double cost = 1;    ///< in plain target passes
};

inline void require_draft_cost(std::string_view where, double draft_cost) {
    require(is_finite(draft_cost) && draft_cost >= 0, where, "draft_cost", draft_cost, "finite and 0 or more");
}

/// Is one more drafted token worth its cost?
///
///     product of the acceptances of all drafted tokens and of that one  >=  c rho
///
/// Drafting a token costs c, a time in which c rho tokens are otherwise emitted, and gains one token with the
/// probability that it and all before it are accepted. That product never rises, so stopping at the first token that
/// does not pay is optimal among all rules that see the same estimates. SpecDec++ stops if 1 - product > h; the best h
/// is 1 - c rho.
///
/// @param survival     the product, in [0, 1], estimated before the token is drawn
/// @param draft_cost   c: a draft pass over a plain target pass, plus what one more position adds to the target's pass
/// @param rate         rho: tokens per plain target pass with the drafting in use, above 0: see `best_rate`
/// @throws             std::invalid_argument outside these ranges
/// @source             monotone stopping problems, Chow and Robbins 1961; SpecDec++, arXiv:2405.19715
[[nodiscard]] inline bool pays_to_draft(double survival, double draft_cost, double rate) {
    constexpr auto where = "pays_to_draft";
    detail::require(is_finite(survival) && survival >= 0 && survival <= 1, where, "survival", survival, "in [0, 1]");
    detail::require_draft_cost(where, draft_cost);
    detail::require(is_positive(rate), where, "rate", rate, "finite and above 0");
    return survival >= draft_cost * rate;
}

/// The most tokens per plain target pass that stopping at a threshold attains: the fixed point of
///
///     rho = E[tokens] / E[cost]    of rounds that draft as long as the product of acceptances is c rho or more
///
/// Each iteration uses the rate of the one before it and is at least as good; about five reach the optimum.
///
/// @param draft_cost   c, as in `pays_to_draft`
/// @param round_at     (threshold) -> RoundMeans of rounds that draft while the product is at least the threshold;
///                     from a model of acceptance, or from recorded texts
/// @throws             std::invalid_argument for a cost or for means that are not finite and positive
/// @edge               drafting never pays: 1, plain decoding
/// @source             Dinkelbach 1967, Management Science 13:492
template <std::invocable<double> F>
    requires std::convertible_to<std::invoke_result_t<F&, double>, RoundMeans>
[[nodiscard]] double best_rate(double draft_cost, F&& round_at) {
    constexpr auto where = "best_rate";
    detail::require_draft_cost(where, draft_cost);
    for (double rate = 1;;) {
        const RoundMeans means = round_at(draft_cost * rate);
        detail::require(is_positive(means.tokens), where, "tokens", means.tokens, "finite and above 0");
        detail::require(is_positive(means.cost), where, "cost", means.cost, "finite and above 0");
        const double next = means.tokens / means.cost;
        if (!(next > rate)) return rate;
        rate = next;
    }
}
}  // namespace detail

}  // inline namespace
}  // namespace specsample

// The gain of speculation in time, and its price in arithmetic operations.
//
//   speedup(alpha, lookahead, draft_cost, verify_cost)      tokens per time over plain decoding
//   operations_factor(alpha, lookahead, draft_operations)   operations per token over plain decoding
#pragma once

#include <string_view>

#include <specsample/core/number.hpp>
#include <specsample/theory/expected_tokens.hpp>
#include <specsample/theory/verify_cost.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Compute `speedup`; `where` names the caller in errors.
template <theory::VerifyCost Cost>
[[nodiscard]] double speedup(std::string_view where, double alpha, Index lookahead, double draft_cost,
                             const Cost& verify_cost) {
    require_drafting(where, alpha, lookahead);
    require(is_finite(draft_cost) && draft_cost >= 0, where, "draft_cost", draft_cost, "finite and 0 or more");
    const double round_cost =
        static_cast<double>(lookahead) * draft_cost + pass_cost(where, verify_cost, lookahead + 1);
    return geometric_sum(alpha, lookahead + 1) / round_cost;
}

}  // namespace detail

namespace theory {

/// Compute the expected speed-up in time over decoding with the target alone.
///
///     S = N(alpha, K) / (K c + cost(K + 1));      c = draft_cost, cost = verify_cost, N = expected_tokens
///
/// With `FlatCost` this is the textbook N / (1 + K c). In times per pass, T_target and T_draft with
/// c = T_draft / T_target, the three forms in use agree:
///
///     N T_target / (T_target + K T_draft)  =  r (K + 1) T_target / (K T_draft + T_target)  =  N / (1 + c K)
///
/// where r = N / (K + 1) is a `CapacityRate`. A fourth form in circulation, c E / (1 + c gamma draft_cost), is wrong in
/// its dimensions: if c is a ratio of costs, c gamma draft_cost is a time and cannot be added to 1; and with nothing
/// drafted (gamma = 0, E = 1) it gives c instead of 1.
///
/// @param alpha         conditional acceptance in [0, 1]; convert other rates with `conditional_rate`
/// @param lookahead     drafted tokens per round, 0 or more
/// @param draft_cost    time of one draft pass over the time of one plain target pass, 0 or more
/// @param verify_cost   `FlatCost`, a callable (n) -> cost(n)/cost(1), or a table of the times of 1, 2, ... positions
/// @returns             above 1 if speculation is faster; under `FlatCost` some lookahead gives that if and only if
///                      alpha > draft_cost
/// @throws              std::invalid_argument for an argument outside its range, for a verify_cost that is not finite
///                      and positive, and for a table with fewer than lookahead + 1 entries
/// @edge                lookahead 0: 1 / cost(1), which is 1; alpha = draft_cost, lookahead 1, flat: exactly 1
/// @source              Leviathan et al. 2023, arXiv:2211.17192, Theorem 3.8 and Corollary 3.9
template <VerifyCost Cost = FlatCost>
[[nodiscard]] double speedup(double alpha, Index lookahead, double draft_cost, const Cost& verify_cost = {}) {
    return detail::speedup("speedup", alpha, lookahead, draft_cost, verify_cost);
}

/// Compute the expected arithmetic operations per token, relative to decoding with the target alone: the price of the
/// speed-up.
///
///     (1 - alpha) (K c + K + 1) / (1 - alpha^(K+1)) = (K c + K + 1) / N(alpha, K)
///
/// @param alpha, lookahead   as in `speedup`
/// @param draft_operations   c: the draft's operations per token over the target's, 0 or more
/// @returns                  1 or more: rejected tokens and the draft itself are extra work
/// @throws                   std::invalid_argument for alpha outside [0, 1], lookahead below 0, or draft_operations
///                           below 0 or not finite
/// @edge                     lookahead 0: 1; alpha 1: 1 + c K / (K + 1)
/// @source                   arXiv:2211.17192, Theorem 3.11
[[nodiscard]] inline double operations_factor(double alpha, Index lookahead, double draft_operations) {
    constexpr auto where = "operations_factor";
    detail::require_drafting(where, alpha, lookahead);
    detail::require(detail::is_finite(draft_operations) && draft_operations >= 0, where, "draft_operations",
                    draft_operations, "finite and 0 or more");
    const double positions = static_cast<double>(lookahead + 1);
    const double operations = static_cast<double>(lookahead) * draft_operations + positions;
    return operations / detail::geometric_sum(alpha, lookahead + 1);
}

}  // namespace theory

}}  // namespace specsample

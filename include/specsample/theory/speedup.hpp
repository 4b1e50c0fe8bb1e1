// The gain of speculation in time, its price in arithmetic operations, and the best number of tokens to draft.
//
//   FlatCost     every target pass costs the same: the textbook's assumption, for a pass bound by reading weights
//   VerifyCost   FlatCost, any callable (n) -> cost(n)/cost(1), or a table of measured times
//   Replay       what a rejection costs a model with a recurrent state
//
//   speedup(alpha, lookahead, draft_cost, verify_cost)      tokens per time over plain decoding
//   operations_factor(alpha, lookahead, draft_operations)   operations per token over plain decoding
//   best_lookahead(alpha, draft_cost, verify_cost, max)     the integer optimum, for any cost of verification
//   continuous_lookahead(alpha, draft_cost)                 the optimum over real numbers, in closed form (flat cost)
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>
#include <specsample/theory/expected_tokens.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace theory {

/// Measured times of passes over 1, 2, 3, ... positions, in any unit. The cost of n positions is entry n - 1 divided by
/// entry 0.
template <class Cost>
concept CostTable = std::convertible_to<const Cost&, std::span<const double>>;

/// A callable that gives cost(n)/cost(1) for n = 1, 2, ...; it is used as given, so it should give 1 for n = 1.
template <class Cost>
concept CostCurve = requires(const Cost& cost, Index positions) {
    { cost(positions) } -> std::convertible_to<double>;
};

/// The cost of a target pass by its number of positions: a table of times, or a function.
template <class Cost>
concept VerifyCost = CostTable<Cost> || CostCurve<Cost>;

/// The cost curve under which verifying n positions costs as much as one plain pass. It is true while reading weights
/// dominates. CPU engines on two cores measured costs of 1.1 to 3.2 at n = 5, enough to lower the best lookahead, even
/// to 0.
struct FlatCost {
    constexpr double operator()(Index) const { return 1.0; }
};

/// What a rejection costs a target that cannot cut its state (models/recurrent.hpp), in plain target passes: it takes a
/// copy of its state back, and reads the round's accepted tokens again. The default is a cache that is cut for nothing.
struct Replay {
    double restore = 0;    ///< taking the copy back, 0 or more
    double per_token = 0;  ///< reading an accepted token again, 0 or more

    /// Return the cost of a rejection after this many accepted tokens.
    double after(Index accepted) const { return restore + per_token * static_cast<double>(accepted); }
};

}  // namespace theory

namespace detail {

/// Return the cost of a pass over `positions` in passes over one position, checked; `where` names the caller in errors.
template <theory::VerifyCost Cost>
[[nodiscard]] double pass_cost(std::string_view where, const Cost& cost, Index positions) {
    double relative;
    if constexpr (theory::CostTable<Cost>) {
        const std::span<const double> times = cost;
        require(positions <= std::ssize(times), where, "size of the verify_cost table", std::ssize(times),
                "at least lookahead + 1");
        relative = times[static_cast<std::size_t>(positions - 1)] / times.front();
    } else {
        relative = cost(positions);
    }
    require(is_finite(relative) && relative > 0, where, "verify_cost", relative, "finite and above 0");
    return relative;
}

inline void require_replay(std::string_view where, const theory::Replay& replay) {
    const auto check = [&](std::string_view what, double cost) {
        require(is_finite(cost) && cost >= 0, where, what, cost, "finite and 0 or more");
    };
    check("replay.restore", replay.restore);
    check("replay.per_token", replay.per_token);
}

/// Compute `speedup`; `where` names the caller in errors.
template <theory::VerifyCost Cost>
[[nodiscard]] double speedup(std::string_view where, double alpha, Index lookahead, double draft_cost,
                             const Cost& verify_cost, const theory::Replay& replay) {
    require_drafting(where, alpha, lookahead);
    require(is_finite(draft_cost) && draft_cost >= 0, where, "draft_cost", draft_cost, "finite and 0 or more");
    require_replay(where, replay);
    double round_cost = static_cast<double>(lookahead) * draft_cost + pass_cost(where, verify_cost, lookahead + 1);
    double survival = 1;
    for (Index accepted = 0; accepted < lookahead && replay.after(lookahead) > 0; ++accepted, survival *= alpha)
        round_cost += survival * (1 - alpha) * replay.after(accepted);
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
/// @param replay        what a rejection costs, which the round pays on top:
///                      + sum over a < K of alpha^a (1 - alpha) replay.after(a)
/// @returns             above 1 if speculation is faster; under `FlatCost` some lookahead gives that if and only if
///                      alpha > draft_cost
/// @throws              std::invalid_argument for an argument outside its range, for a verify_cost that is not finite
///                      and positive, and for a table with fewer than lookahead + 1 entries
/// @edge                lookahead 0: 1 / cost(1), which is 1; alpha = draft_cost, lookahead 1, flat: exactly 1
/// @source              Leviathan et al. 2023, arXiv:2211.17192, Theorem 3.8 and Corollary 3.9
template <VerifyCost Cost = FlatCost>
[[nodiscard]] double speedup(double alpha, Index lookahead, double draft_cost, const Cost& verify_cost = {},
                             const Replay& replay = {}) {
    return detail::speedup("speedup", alpha, lookahead, draft_cost, verify_cost, replay);
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

/// Find the lookahead in [0, max] with the largest `speedup`; on ties, the smallest. 0 means: do not speculate.
///
///     argmax over K of N(alpha, K) / (K c + cost(K + 1))
///
/// Under `FlatCost` the speed-up has one peak, at the smallest K with alpha^(K+1) (1 + c K) <= c N(alpha, K). With a
/// measured cost it may have several, so every K is tried.
///
/// @param alpha, draft_cost, verify_cost, replay   as in `speedup`
/// @param max                              the largest lookahead to consider, 0 or more
/// @throws                                 std::invalid_argument if max is negative, or if `speedup` throws for any
///                                         lookahead up to max; a table therefore needs max + 1 entries
/// @cost                                   O(max log max), max + 1 evaluations of verify_cost; O(max^2) with a replay
/// @edge                                   alpha <= draft_cost under `FlatCost`: 0; draft_cost 0 and alpha 1: max
template <VerifyCost Cost>
[[nodiscard]] Index best_lookahead(double alpha, double draft_cost, const Cost& verify_cost, Index max,
                                   const Replay& replay = {}) {
    constexpr auto where = "best_lookahead";
    detail::require(max >= 0, where, "max", max, "0 or more");
    Index best = 0;
    double fastest = 0.0;
    for (Index lookahead = 0; lookahead <= max; ++lookahead) {
        const double speed = detail::speedup(where, alpha, lookahead, draft_cost, verify_cost, replay);
        if (speed <= fastest) continue;
        fastest = speed;
        best = lookahead;
    }
    return best;
}

}  // namespace theory

namespace detail {

/// Find the y >= 0 with y - ln(1 + y) = u, for u >= 0: y = -W_{-1}(-e^(-1-u)) - 1 on Lambert's lower branch, in a form
/// that cannot underflow. Newton's method on a convex function starts from u + sqrt(2u), which is above the root
/// (Chatzigeorgiou 2013, arXiv:1601.04895, Theorem 1), and descends until rounding stops it.
[[nodiscard]] inline double lambert_excess(double u) {
    double y = u + std::sqrt(2.0 * u);
    for (;;) {
        const double next = y - (y - std::log1p(y) - u) * (1.0 + y) / y;
        if (!(next < y)) return y;
        y = next;
    }
}

}  // namespace detail

namespace theory {

/// Compute the real K at which the flat-cost speed-up N(alpha, K) / (1 + c K) peaks; it is within 1 of the integer
/// optimum.
///
///     K = (A - z) / ln(alpha) - 1;      A = 1 - ln(alpha) (1/c - 1),      z = -W_{-1}(-e^(-A))
///
/// @param alpha        conditional acceptance, in [0, 1): at 1 the speed-up rises with K for ever
/// @param draft_cost   c: time of one draft pass over the time of one plain target pass, above 0: at 0 there is no peak
/// @throws             std::invalid_argument for an argument outside its range
/// @edge               alpha <= draft_cost: 0, because no whole number of drafted tokens gains
/// @source             the root of dS/dK = 0 for the S of arXiv:2211.17192, Theorem 3.8
[[nodiscard]] inline double continuous_lookahead(double alpha, double draft_cost) {
    constexpr auto where = "continuous_lookahead";
    detail::require(alpha >= 0 && alpha < 1, where, "alpha", alpha, "in [0, 1)");
    detail::require(detail::is_finite(draft_cost) && draft_cost > 0, where, "draft_cost", draft_cost,
                    "finite and above 0");
    if (alpha <= draft_cost) return 0.0;
    const double decay = -std::log(alpha);
    const double y = detail::lambert_excess(decay * (1.0 / draft_cost - 1.0));  // A = 1 + u, z = 1 + y, A - z = -ln z
    return std::log1p(y) / decay - 1.0;
}

}  // namespace theory

}}  // namespace specsample

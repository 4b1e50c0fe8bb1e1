// The cost of a target pass over several positions, in passes over one position.
//
//   FlatCost     every pass costs the same: the textbook's assumption, for a pass bound by reading weights
//   VerifyCost   FlatCost, any callable (n) -> cost(n)/cost(1), or a table of measured times
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

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

}  // namespace detail

}}  // namespace specsample

// How far the logits of a row spread: their standard deviation, and the entropy of the row.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

#include <specsample/kernels/block.hpp>
#include <specsample/kernels/excess.hpp>
#include <specsample/kernels/select_typical.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The largest logit, and the standard deviation of those that are possible.
struct Spread {
    double largest;
    double deviation;
};

/// Find the spread of logits; -inf is no possible one.
/// @cost   four passes, in packets
template <std::floating_point Value>
Spread spread_of(std::span<const Value> logits) {
    constexpr auto far = static_cast<Value>(-1e30);
    const Value largest = block_max(std::ssize(logits), logits.data());
    const auto sum = [&](const auto& term) {
        double total = 0;
        for_blocks(0, std::ssize(logits), [&](Index first, Index count) {
            total += static_cast<double>(block_sum<Value>(count, term, logits.data() + first));
        });
        return total;
    };
    // 1 for a logit, 0 for -inf: 1 - 1e-25 is 1.
    const auto is_possible = [&](const auto& z) { return (z.max(far) / -far + 1).min(Value{1}); };
    const double count = sum(is_possible);
    const auto from = [&](Value pivot) {
        return [&, pivot](const auto& z) { return ((z.max(far) - pivot) * is_possible(z)).eval(); };
    };
    const double mean = static_cast<double>(largest) + sum(from(largest)) / count;
    const auto distance = from(static_cast<Value>(mean));
    const double squares = sum([&](const auto& z) { return distance(z).square().unaryExpr(Scaled<Value>(1)).eval(); });
    return {static_cast<double>(largest), std::sqrt(std::max(squares / count, 0.0))};
}

/// Return the entropy of the candidates, in nats, at the temperature so far.
/// @pre   some weight is positive
template <class Value>
double entropy_of(filters::Candidates<Value>& row) {
    const auto [weights, total] = row.weights();
    const std::span<const Value> levels = row.levels();
    const double temperature = row.temperature_of_weights();
    const bool are_probabilities = row.kind() == filters::NumberKind::probabilities && temperature == 1;
    const double of_weight_one =  // the level of a weight of 1
        are_probabilities ? 0 : static_cast<double>(block_max(std::ssize(levels), levels.data()));
    return std::log(total) + (of_weight_one - mean_level(levels, weights, total)) / temperature;
}

}}}  // namespace specsample::detail

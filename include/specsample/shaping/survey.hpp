// A first look at the numbers of a row, before anything is done with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/kernels/nan.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/shaping/memory.hpp>

namespace specsample::detail {

/// What one pass tells.
struct Survey {
    bool is_sound = true;  ///< can this be a row?
    double maximum = -std::numeric_limits<double>::infinity();
    double sum = 0;  ///< of probabilities
};

/// The sum of numbers, in double.
template <std::floating_point Value>
double wide_sum(const Value* numbers, Index count) {
    return block_sum<double>(
        count, [](const auto& x) { return x.template cast<double>(); }, numbers);
}

/// Logits: no NaN, no +inf. Both, and the largest values of the tiles, are looked for at once, while a number is in its
/// register.
template <std::floating_point Value>
Survey survey_logits(std::span<const Value> numbers, std::vector<Value>& maxima) {
    const Index size = std::ssize(numbers), whole = size - size % tile_size;
    maxima.resize(static_cast<std::size_t>(tile_count(size)));
    Stripe<Value> marks = Stripe<Value>::Zero();
    const Blocks row(Column<Value>(numbers.data(), size));
    for (Index first = 0; first < whole; first += tile_size) {
        row.expect(first + block_size, tile_size);
        Stripe<Value> most = Stripe<Value>::Constant(-std::numeric_limits<Value>::infinity());
        for (Index i = first; i < first + tile_size; i += stripe_width) {
            const StripeMap<Value> stripe(numbers.data() + i);
            most = most.max(stripe);
            marks += stripe.unaryExpr(NanMark<Value>{});
        }
        maxima.data()[first / tile_size] = most.maxCoeff();
    }
    const Value* rest = numbers.data() + whole;
    if (whole < size) maxima.data()[whole / tile_size] = block_max(size - whole, rest);
    const auto maximum = static_cast<double>(block_max(tile_count(size), maxima.data()));
    const bool has_some = marks.sum() > 0 || has_nan(rest, size - whole);
    return {.is_sound = !has_some && !is_infinity(maximum), .maximum = maximum};
}

/// Probabilities: finite, non-negative, of sum 1 within `tolerance`. As inspect() has it.
template <std::floating_point Value>
Survey survey_probabilities(std::span<const Value> numbers, double tolerance) {
    const auto negative = [](const auto& x) { return x.min(Value{0}); };
    Survey seen;
    Value below = 0;
    for_blocks(0, std::ssize(numbers), [&](Index first, Index count) {
        const Value* block = numbers.data() + first;
        seen.sum += wide_sum(block, count);
        below += block_sum<Value>(count, negative, block);
        seen.maximum = std::max(seen.maximum, static_cast<double>(block_max(count, block)));
    });
    seen.is_sound = is_finite(seen.sum) && below == 0 && std::abs(seen.sum - 1) <= tolerance;
    return seen;
}

}  // namespace specsample::detail

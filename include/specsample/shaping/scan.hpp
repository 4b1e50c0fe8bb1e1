// Passes over the numbers of a row: a first one that checks them and finds the largest; weights and sums.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/inspect.hpp>
#include <specsample/kernels/logit_weights.hpp>
#include <specsample/kernels/nan.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/kernels/wide_sum.hpp>
#include <specsample/shaping/memory.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The result of one pass.
struct Scan {
    bool is_sound = true;  ///< true if this can be a row
    double maximum = -std::numeric_limits<double>::infinity();
};

/// Sees whether a number of a row is NaN, a patch at a time.
template <std::floating_point Value>
struct NanSeen {
    Stripe<Value> seen = Stripe<Value>::Zero();

    void operator()(const Value* patch) {
        for (Index i = 0; i < patch_size; i += stripe_width)
            seen = seen.binaryExpr(entries_at<stripe_width>(patch, i), NanWatch<Value>());
    }
    bool any() const { return saw_nan(seen); }
};
template <std::floating_point Value>
    requires scans_packets<Value>
struct NanSeen<Value> {
    using Packet = typename Eigen::internal::packet_traits<Value>::type;
    static constexpr Index size = Eigen::internal::packet_traits<Value>::size;
    Packet seen = Eigen::internal::pset1<Packet>(0);

    void operator()(const Value* patch) {
        for (Index i = 0; i < patch_size; i += size)
            seen = NanWatch<Value>().packetOp(seen, Eigen::internal::ploadu<Packet>(patch + i));
    }
    bool any() const { return saw_nan_in(seen); }
};

/// Check logits: no NaN, no +inf. The largest values of the tiles are found in the same pass, while a number is in its
/// register.
template <std::floating_point Value>
Scan scan_logits(std::span<const Value> numbers, std::vector<Value>& maxima) {
    NanSeen<Value> seen;
    tile_maxima(numbers, maxima, seen);
    const auto maximum = static_cast<double>(block_max(std::ssize(maxima), maxima.data()));
    const Index rest = std::ssize(numbers) % tile_size;
    const bool has_some = seen.any() || has_nan(numbers.data() + std::ssize(numbers) - rest, rest);
    return {.is_sound = !has_some && !is_infinity(maximum), .maximum = maximum};
}

/// Check probabilities as inspect() does: finite, non-negative, of sum 1 within `tolerance`. The largest values of the
/// tiles are found in the same pass.
template <std::floating_point Value>
Scan scan_probabilities(std::span<const Value> numbers, double tolerance, std::vector<Value>& maxima) {
    const Index size = std::ssize(numbers);
    maxima.resize(static_cast<std::size_t>(tile_count(size)));
    CheckedSum sum;
    for_blocks(0, size, [&](Index first, Index count) {
        sum.add(count, numbers.data() + first);
        for (Index i = first; i < first + count; i += tile_size)
            maxima.data()[i / tile_size] = tile_maximum(numbers, i / tile_size);
    });
    return {.is_sound = sum.is_one(tolerance),
            .maximum = static_cast<double>(block_max(std::ssize(maxima), maxima.data()))};
}

/// Return the power that maps logits to weights at a temperature, and the largest logit to 1.
template <std::floating_point Value>
ScaledExp2<Value> power_at(double largest, double temperature) {
    return ScaledExp2<Value>(static_cast<Value>(is_finite(largest) ? largest : 0),
                             static_cast<Value>(exponent_scale<Value>(temperature)));
}

/// Write the weights of logits; `to` may be the logits. Each stripe is written at once: what a compiler takes for a
/// change of the power's own numbers makes it read them again.
template <class Value>
void weigh(const Value* logits, Index count, const ScaledExp2<Value>& power, Value* to) {
    const Index whole = count - count % stripe_width;
    for (Index i = 0; i < whole; i += stripe_width) {
        const Stripe<Value> weights = entries_at<stripe_width>(logits, i).unaryExpr(ByReference(power));
        Eigen::Map<Stripe<Value>>(to + i) = weights;
    }
    for (Index i = whole; i < count; ++i) to[i] = power(logits[i]);
}

/// Write weights divided by their sum; `to` may be the weights.
template <std::floating_point Value>
void normalise(std::span<const Value> weights, double sum, Value* to) {
    using All = Eigen::Array<Value, Eigen::Dynamic, 1>;
    const Eigen::Map<const All> given(weights.data(), std::ssize(weights));
    Eigen::Map<All> result(to, given.size());
    if (const auto inverse = static_cast<Value>(1 / sum); inverse <= std::numeric_limits<Value>::max())
        result = given * inverse;
    else  // the weights are subnormal numbers
        result = given / static_cast<Value>(sum);
}

/// Return the sum of the weights of logits as sum_by_block does, with `memory` for one block of them.
template <std::floating_point Value>
double sum_of_weights(std::span<const Value> logits, const ScaledExp2<Value>& power, std::vector<Value>& memory) {
    double total = 0;
    const Index count = std::ssize(logits), length = block_length(count);
    grow(memory, static_cast<std::size_t>(length));
    for (Index first = 0; first < count; first += length) {
        const Index n = std::min(length, count - first);
        weigh(logits.data() + first, n, power, memory.data());
        total += wide_sum(memory.data(), n);
    }
    return total;
}

/// Return the sum of numbers in double, block by block: ranks that hold slices of a row add in the same order.
template <std::floating_point Value>
double sum_by_block(const Value* numbers, Index count) {
    double total = 0;
    const Index length = block_length(count);
    for (Index first = 0; first < count; first += length)
        total += wide_sum(numbers + first, std::min(length, count - first));
    return total;
}

}}}  // namespace specsample::detail

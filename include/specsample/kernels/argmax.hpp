// The largest entry of a row, and the row that is certain of it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <specsample/core/number.hpp>
#include <specsample/kernels/entries.hpp>

namespace specsample {

namespace detail {

/// Is one of `count` numbers NaN? Told by their bits, many at a time.
template <class Value>
bool has_nan(const Value* numbers, Index count) {
    using Bits = std::conditional_t<sizeof(Value) == 4, std::int32_t, std::int64_t>;
    constexpr Bits magnitude = std::numeric_limits<Bits>::max();
    constexpr auto infinity = std::bit_cast<Bits>(std::numeric_limits<Value>::infinity());
    constexpr std::size_t width = 64;
    Bits most[width] = {};
    const auto size = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i + width <= size; i += width)
        for (std::size_t lane = 0; lane < width; ++lane)
            most[lane] = std::max(most[lane], std::bit_cast<Bits>(numbers[i + lane]) & magnitude);
    for (std::size_t i = size - size % width; i < size; ++i)
        most[0] = std::max(most[0], std::bit_cast<Bits>(numbers[i]) & magnitude);
    return *std::max_element(most, most + width) > infinity;
}

}  // namespace detail

/// The id of the largest entry, the lowest one on ties. One rule for drafts, targets and plain decoding: greedy texts
/// can only agree if their ties do. A row of logits is compared as it is.
/// @returns  -1 if there is no largest entry: an empty row, a NaN in it, or nothing above -inf
/// @cost     one pass
template <Row R>
Index argmax(const R& row) {
    if constexpr (requires { row.argmax(); }) {
        return row.argmax();
    } else {
        const detail::Blocks blocks(as_row(row));
        using Value = typename decltype(blocks)::Value;
        typename decltype(blocks)::Buffer buffer;
        Index best = -1;
        bool ordered = true;
        Value largest = -std::numeric_limits<Value>::infinity();
        detail::for_blocks(0, blocks.size(), [&](Index first, Index count) {
            const Value* numbers = blocks.read(first, count, buffer);
            ordered = ordered && !detail::has_nan(numbers, count);
            const Value most = Eigen::Map<const Eigen::Array<Value, Eigen::Dynamic, 1>>(numbers, count).maxCoeff();
            if (!ordered || !(most > largest)) return;
            largest = most;
            best = first + (std::find(numbers, numbers + count, most) - numbers);
        });
        return ordered && best >= 0 ? blocks.id(best) : -1;
    }
}

/// The distribution that gives everything to `id`; no mass at all for id -1.
template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, 1> one_hot(Index size, Index id) {
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> row = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(size);
    if (id >= 0) row[id] = Scalar{1};
    return row;
}

}  // namespace specsample

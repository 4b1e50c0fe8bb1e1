// Rows for the tests of shaping, and shaped rows by id.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <specsample/random/rng.hpp>
#include <specsample/shaping/shape.hpp>

namespace shaping_rows {

using namespace specsample;

template <class Scalar>
using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The probabilities of a row, by id, in double.
template <RowLike R>
Array<double> probs_by_id(const R& row) {
    const auto view = detail::as_row(row);
    Array<double> probs(view.size());
    for (Index i = 0; i < view.size(); ++i) probs[i] = static_cast<double>(view.coeff(i));
    return probs;
}

/// The row of a pipeline after a context.
template <RowLike R, class P>
Array<double> through(const P& pipeline, const R& row, const std::vector<Token>& context = {}) {
    filters::ShapedMemory<detail::ShapedValue<R>> memory;
    return probs_by_id(shape(row, pipeline, context, memory));
}

/// The ids that have a probability.
inline std::vector<Index> possible(const Array<double>& probs) {
    std::vector<Index> ids;
    for (Index i = 0; i < probs.size(); ++i)
        if (probs[i] > 0) ids.push_back(i);
    return ids;
}

/// Logits in [-4, 4), many of them equal if `levels` is small.
template <class Scalar = double>
Array<Scalar> random_logits(Index size, std::uint64_t seed, double levels = 1e6) {
    Array<Scalar> logits(size);
    for (Index i = 0; i < size; ++i)
        logits[i] = static_cast<Scalar>(
            8 * std::floor(levels * Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i))) / levels - 4);
    return logits;
}

/// A row with many equal entries and some zeros.
template <class Scalar>
Array<Scalar> row_of(Index size, std::uint64_t seed) {
    Array<Scalar> row(size);
    for (Index i = 0; i < size; ++i)
        row[i] = static_cast<Scalar>(std::floor(5 * Rng({.seed = seed}).uniform(static_cast<std::uint32_t>(i))));
    if (row.sum() == 0) row[0] = 1;
    return row / row.sum();
}

/// exp(z / T), normalised: softmax by definition, in double. T = 0 is the first of the largest.
template <class Z>
Array<double> softmax_of(const Z& logits, double temperature = 1) {
    Array<double> z(logits.size());
    for (Index i = 0; i < z.size(); ++i) z[i] = static_cast<double>(logits[i]);
    Index first = 0;
    const double largest = z.maxCoeff(&first);
    for (Index i = 0; i < z.size(); ++i)
        z[i] = temperature == 0 ? double(i == first) : std::exp((z[i] - largest) / temperature);
    return z / z.sum();
}

/// Ids from the most probable to the least, the lower ids first among equals.
template <class Numbers>
std::vector<Index> sorted(const Numbers& numbers) {
    std::vector<Index> ids;
    for (Index i = 0; i < numbers.size(); ++i) ids.push_back(i);
    std::stable_sort(ids.begin(), ids.end(), [&](Index a, Index b) { return numbers[a] > numbers[b]; });
    return ids;
}

/// A row of which only some ids are left, normalised.
inline Array<double> only(const Array<double>& probs, const std::vector<Index>& ids) {
    Array<double> kept = Array<double>::Zero(probs.size());
    for (const Index id : ids) kept[id] = probs[id];
    return kept / kept.sum();
}

inline double distance(const Array<double>& a, const Array<double>& b) {
    return a.size() == b.size() ? (a - b).abs().maxCoeff() : infinity;
}

}  // namespace shaping_rows

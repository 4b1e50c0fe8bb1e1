// One row as plain numbers, from which every kind of row is made, and against which rounds over it are checked.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/kernels/inspect.hpp>

#include "fuzz/bytes.hpp"

namespace fuzz {

using namespace specsample;
using namespace specsample::kernels;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The format of a kind of row.
struct Format {
    bool is_logits = false;
    bool is_sparse = false;
    double (*rounded)(double) = nullptr;  ///< to its scalar
    double tolerance = 0;                 ///< largest error of a sum of 1
    double largest_scale = 0;             ///< largest scale of logits that the scalar can hold
};

template <detail::Floating Scalar>
constexpr Format format_of(bool is_logits, bool is_sparse) {
    constexpr bool is_wide = std::same_as<Scalar, double>;
    return {is_logits, is_sparse, [](double x) { return static_cast<double>(static_cast<Scalar>(x)); },
            sum_tolerance<Scalar>,
            is_wide ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()}};
}

/// A row, as numbers by place.
struct Numbers {
    Format format;
    Index vocab = 0;
    std::vector<double> values;
    std::vector<std::int64_t> ids;  ///< of the places of a sparse row
    double temperature = 1;
    std::optional<double> log_sum_exp;  ///< as given to the row, right or wrong

    Index size() const { return std::ssize(values); }
    std::int64_t id(Index place) const { return format.is_sparse ? ids[static_cast<std::size_t>(place)] : place; }
    double value(Index place) const { return values[static_cast<std::size_t>(place)]; }

    /// The number of an id: nothing where a row does not hold it.
    std::optional<double> at(Index id) const {
        for (Index place = 0; place < size(); ++place)
            if (this->id(place) == id) return value(place);
        return std::nullopt;
    }

    double largest() const { return std::accumulate(values.begin(), values.end(), -infinity, max_of); }

    /// log2 of what a logit weighs beside the largest one, in the precision of double.
    double exponent(double logit) const {
        const double scale = std::clamp(std::numbers::log2e / temperature, 0.0, format.largest_scale);
        return (logit - largest()) * scale;
    }

    /// Is this a distribution, so that nothing may fault it?
    bool is_good() const {
        if (vocab == 0 || values.empty() || log_sum_exp) return false;
        for (Index place = 0; format.is_sparse && place < size(); ++place)
            if (id(place) >= vocab || id(place) <= (place == 0 ? -1 : id(place - 1))) return false;
        if (!format.is_sparse && size() != vocab) return false;
        const auto is_entry = [&](double x) {
            return format.is_logits ? !detail::is_nan(x) && x != infinity : detail::is_finite(x) && x >= 0;
        };
        if (!std::ranges::all_of(values, is_entry)) return false;
        const double off = std::abs(std::accumulate(values.begin(), values.end(), 0.0) - 1);
        if (format.is_logits) {
            const bool like_probabilities = off < 1e-2 && std::ranges::all_of(values, [](double x) { return x >= 0; });
            return largest() > -infinity && !like_probabilities;
        }
        // Sums are rounded: a row at the very edge may go either way.
        return off < .9 * format.tolerance;
    }

    /// May a token be written from this row? A power that its scalar cannot hold is no chance at all: exponents are
    /// counted from a number that may be 2^64 times as likely as the largest, or as unlikely.
    bool allows(Index token) const {
        const auto x = at(token);
        if (!x || detail::is_nan(*x)) return false;
        if (!format.is_logits) return *x > 0;
        if (*x == -infinity) return false;
        if (temperature == 0) return *x == largest();
        const double below = exponent(*x);
        return log_sum_exp || below > -std::log2(format.largest_scale) - 72 - 1e-5 * std::abs(below);
    }

    /// The probabilities that it means, unnormalised: numbers that are none are 0.
    std::vector<double> meant() const {
        std::vector<double> probs(static_cast<std::size_t>(vocab), 0);
        for (Index place = 0; place < size(); ++place) {
            const double x = format.is_logits ? std::exp2(exponent(value(place))) : value(place);
            if (id(place) >= 0 && id(place) < vocab && detail::is_positive(x))
                probs[static_cast<std::size_t>(id(place))] = x;
        }
        return probs;
    }

  private:
    static double max_of(double a, double b) { return b > a ? b : a; }
};

/// Weights of any spread, some of them 0; a few of them repeated over a long row.
inline std::vector<double> weights(Bytes& bytes, Index vocab) {
    std::vector<double> pool;
    for (Index left = 1 + bytes.below(std::min<Index>(vocab, 16)); left > 0; --left) {
        const int b = bytes.byte();
        pool.push_back(b < 192 ? b / 4 : std::exp2(3 * (192 - b)));
    }
    std::vector<double> result;
    for (Index id = 0; id < vocab; ++id) result.push_back(pool[static_cast<std::size_t>(id) % pool.size()]);
    if (bytes.one_in(4)) result[static_cast<std::size_t>(bytes.below(vocab))] = 1e4;
    return result;
}

inline double temperature_of(Bytes& bytes) {
    switch (bytes.below(8)) {
        case 1:
            return 0;
        case 2:
            return 1e300;
        case 3:
            return std::numeric_limits<double>::denorm_min();
        case 4: {
            const double t = std::abs(bytes.number());
            return detail::is_finite(t) ? t : 1;
        }
        default:
            return .25 * static_cast<double>(1 + bytes.below(8));
    }
}

/// A good row of these weights.
inline Numbers good_row(Bytes& bytes, const Format& format, std::vector<double> weights) {
    Numbers row{.format = format, .vocab = std::ssize(weights), .values = {}, .ids = {}, .log_sum_exp = {}};
    double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (sum == 0) sum = weights[static_cast<std::size_t>(bytes.below(row.vocab))] = 1;
    if (format.is_logits) row.temperature = temperature_of(bytes);
    const double spread = row.temperature > 0 && row.temperature < 1e3 ? row.temperature : 1;
    const double offset = static_cast<double>(static_cast<std::int8_t>(bytes.byte()));
    const bool holds_zeros = bytes.one_in(2);
    for (Index id = 0; id < row.vocab; ++id) {
        const double p = weights[static_cast<std::size_t>(id)] / sum;
        if (format.is_sparse && p == 0 && !holds_zeros) continue;
        row.values.push_back(format.rounded(format.is_logits ? spread * std::log(p) + offset : p));
        if (format.is_sparse) row.ids.push_back(id);
    }
    return row;
}

/// One defect of a row.
inline void spoil(Bytes& bytes, Numbers& row) {
    const auto place = [&] { return static_cast<std::size_t>(bytes.below(std::max<Index>(row.size(), 1))); };
    switch (bytes.below(row.format.is_sparse ? 9 : 6)) {
        case 5:  // probability that is moved too far, so that the sum is right
            if (row.size() > 0) {
                const std::size_t from = place(), to = place();
                const double moved = row.format.rounded(1.5 * row.values[from]);
                row.values[from] = row.format.rounded(row.values[from] - moved);
                row.values[to] = row.format.rounded(row.values[to] + moved);
            }
            return;
        case 0:  // nothing but noise
            for (double& x : row.values) x = row.format.rounded(bytes.number());
            return;
        case 1:
        case 2:  // a number
            if (row.size() > 0) row.values[place()] = row.format.rounded(bytes.number());
            return;
        case 3:  // a size
            row.vocab = bytes.below(2 * row.vocab + 1);
            if (row.format.is_sparse) row.vocab = std::max(row.vocab, row.size());
            if (!row.format.is_sparse) row.values.resize(static_cast<std::size_t>(row.vocab), 0);
            return;
        case 4:  // a normaliser, or a scale
            if (row.format.is_logits) row.log_sum_exp = bytes.number();
            if (!row.format.is_logits)
                for (double& x : row.values) x = row.format.rounded(x * 1.5);
            return;
        case 6:  // an id
            if (row.size() > 0) row.ids[place()] = static_cast<std::int64_t>(bytes.word());
            return;
        case 7:  // an order
            if (row.size() > 0) {
                const std::size_t one = place(), other = place();
                std::swap(row.ids[one], row.ids[other]);
            }
            return;
        default:  // all ids
            row.ids.clear();
            row.values.clear();
    }
}

}  // namespace fuzz

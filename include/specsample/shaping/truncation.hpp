// The filters that cut a row: top-k, top-p, min-p and typical-p.
//
// TopK: Fan et al.: "Hierarchical neural story generation", ACL 2018 (arXiv:1805.04833), section 5.
// TopP, the nucleus: Holtzman et al.: "The curious case of neural text degeneration", ICLR 2020 (arXiv:1904.09751),
// section 3.1.
// MinP: Nguyen et al.: "Turning up the heat: min-p sampling for creative and coherent LLM outputs", ICLR 2025
// (arXiv:2407.01082), section 3.
// TypicalP: Meister et al.: "Locally typical sampling", TACL 2023 (arXiv:2202.00666), section 4.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/kernels/select_above.hpp>
#include <specsample/kernels/select_mass.hpp>
#include <specsample/kernels/select_typical.hpp>
#include <specsample/shaping/candidates.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace filters {

/// Keep the k most probable tokens, the lower ids first among equals. 0 keeps everything.
///
/// Never more than k are kept. transformers and vLLM keep all tokens that are as probable as the k-th, llama.cpp any k.
///
/// @cost   one pass, whatever the temperature (for logits none beyond the first look at them), then O(k)
class TopK {
  public:
    /// @throws std::invalid_argument unless top_k >= 0
    explicit TopK(Index top_k) : top_k_(top_k) { detail::require(top_k >= 0, "TopK", "top_k", top_k, "at least 0"); }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        // Impossible candidates are dropped even where no more than k are left: ranks that share a row list fewer of
        // them.
        if (top_k_ > 0 && top_k_ < row.vocab() && !row.is_greedy() && row.size() > 0) row.keep_top(top_k_);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (top_k_ > 0 && !outlook.is_greedy()) outlook.limit({.most = top_k_});
    }

  private:
    Index top_k_;
};

}  // namespace filters

namespace detail {

/// Keep the nucleus of logits if it reaches no further than to a thousandth of the largest weight, as in a peaked row.
/// Then only the weights of these tokens are written; of the others the sum is enough.
/// @returns   whether the nucleus was kept
template <class Value>
bool keep_peaked_nucleus(filters::Candidates<Value>& row, double top_p) {
    if (row.kind() != filters::NumberKind::logits || !row.holds_every_id()) return false;
    const double largest = row.maximum(), temperature = row.temperature_of_weights();
    auto& scratch = row.scratch();
    const auto least = static_cast<Value>(largest - temperature * std::log(1024));
    if (!leaves_half(scratch.maxima, least)) return false;
    const auto power = power_at<Value>(largest, temperature);
    const std::span<const Value> logits = row.numbers();
    const auto weight = [&](Token id) { return power(logits.data()[id]); };
    const double target = top_p * sum_of_weights(logits, power, scratch.weights);
    scratch.selection.maxima = scratch.maxima;
    const auto ids = candidates(
        logits, [=](Value z) { return z >= least; }, scratch.selection);
    const auto weights = values_of<Value>(ids, weight, scratch.selection.values);
    if (ids.empty() || !(wide_sum(weights.data(), std::ssize(weights)) >= target)) return false;
    const auto cut = cut_at(weights, target, own_mass, scratch.selection.masses);
    // A power is not quite monotone: a weight that was left out may be as large.
    if (!(static_cast<double>(cut.least) > 1.001 * static_cast<double>(power(least)))) return false;
    keep(weight, ids, cut, scratch.places);
    row.keep(scratch.places);
    return true;
}

}  // namespace detail

namespace filters {

/// Keep the nucleus: the fewest most probable tokens whose probabilities sum to at least p, including the token that
/// reaches p, the lower ids first among equals. Probabilities are normalised over the candidates left so far, at the
/// temperature so far. 1 keeps everything.
///
/// @cost   an exponential for each candidate, and a selection that does not sort them; the weights of a peaked row are
///         summed without being written
class TopP {
  public:
    /// @throws std::invalid_argument unless 0 < top_p <= 1
    explicit TopP(double top_p) : top_p_(top_p) {
        detail::require(top_p > 0 && top_p <= 1, "TopP", "top_p", top_p, "in (0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (top_p_ == 1 || row.is_greedy() || row.size() == 0 || detail::keep_peaked_nucleus(row, top_p_)) return;
        auto& scratch = row.scratch();
        const bool is_as_given = row.is_as_given();
        const auto [weights, total] = row.weights();
        if (!detail::is_positive(total)) return;
        if (is_as_given) {  // the weights are the numbers, and their maxima are known
            // A row that sums to 1 within rounding is taken for one that does: .5 of it is reached by an entry of .5.
            const bool is_one = std::abs(total - 1) < 8 * double{std::numeric_limits<Value>::epsilon()};
            scratch.selection.maxima = scratch.maxima;
            detail::select_mass_by_maxima(weights, is_one ? 1 : total, top_p_, scratch.places, scratch.selection);
        } else {
            kernels::select_mass(weights, total, top_p_, scratch.places, scratch.selection);
        }
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (top_p_ != 1 && !outlook.is_greedy()) outlook.limit({.mass = top_p_, .temperature = outlook.temperature()});
    }

  private:
    double top_p_;
};

}  // namespace filters

namespace detail {

/// Return the smallest number above `impossible` that is not below `x`: a possible number is >= least_from(x) exactly
/// if it is >= x.
template <std::floating_point Value>
Value least_from(double x, Value impossible) {
    const auto rounded = static_cast<Value>(x);
    const Value above = std::numeric_limits<Value>::infinity();
    const Value least = static_cast<double>(rounded) < x ? std::nextafter(rounded, above) : rounded;
    return std::max(least, std::nextafter(impossible, above));
}

}  // namespace detail

namespace filters {

/// Keep the tokens that are at least min_p times as probable as the most probable one. 0 keeps everything, 1 the most
/// probable token and its ties.
///
/// Probabilities are taken at the temperature so far. For logits the condition is z >= z_max + T ln min_p, so no
/// exponential is computed.
///
/// @cost   one pass
class MinP {
  public:
    /// @throws std::invalid_argument unless 0 <= min_p <= 1
    explicit MinP(double min_p) : min_p_(min_p) {
        detail::require(min_p >= 0 && min_p <= 1, "MinP", "min_p", min_p, "in [0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (min_p_ == 0 || row.is_greedy() || row.size() == 0) return;
        const double least = row.kind() == NumberKind::logits
                                 ? row.maximum() + detail::rounded(row.temperature_of_weights() * std::log(min_p_))
                                 : row.maximum() * std::pow(min_p_, row.temperature_of_weights());
        auto& scratch = row.scratch();
        const Value threshold = detail::least_from(least, row.impossible());
        detail::select_at_least_by_maxima(row.numbers(), threshold, scratch.maxima, scratch.places);
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (min_p_ > 0 && !outlook.is_greedy()) outlook.limit({.distance = -outlook.temperature() * std::log(min_p_)});
    }

  private:
    double min_p_;
};

/// Keep the fewest most typical tokens whose probabilities sum to at least p. The most typical are those whose surprise
/// -ln p(x) is closest to the entropy. Probabilities are normalised over the candidates left so far, at the temperature
/// so far. 1 keeps everything.
///
/// @cost   the weights of the candidates, a logarithm each unless the row is of logits, three more passes, and a
///         selection that does not sort them
/// @edge   ties are broken as in select_typical; engines differ there
class TypicalP {
  public:
    /// @throws std::invalid_argument unless 0 < typical_p <= 1
    explicit TypicalP(double typical_p) : typical_p_(typical_p) {
        detail::require(typical_p > 0 && typical_p <= 1, "TypicalP", "typical_p", typical_p, "in (0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (typical_p_ == 1 || row.is_greedy() || row.size() == 0) return;
        const auto [weights, total] = row.weights();
        if (!detail::is_positive(total)) return;
        auto& scratch = row.scratch();
        detail::select_typical_levels(row.levels(), weights, total, typical_p_, scratch.places, scratch.typical);
        row.keep(scratch.places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (typical_p_ != 1 && !outlook.is_greedy()) outlook.limit({});
    }

  private:
    double typical_p_;
};

}  // namespace filters

}}  // namespace specsample

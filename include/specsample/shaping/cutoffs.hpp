// Filters that leave out what is unlikely by the spread of a row (top-n-sigma, the epsilon and eta cut-offs), and what
// is too likely (XTC).
//
// TopNSigma: Tang et al.: "Top-n-sigma: not all logits are you need", ACL 2025 (arXiv:2411.07641), Algorithm 1.
// EpsilonCutoff, EtaCutoff: Hewitt, Manning, Liang: "Truncation sampling as language model desmoothing", EMNLP 2022
// (arXiv:2210.15191), section 4.
// Xtc: "Exclude top choices", as in llama.cpp and text-generation-webui.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <specsample/core/contract.hpp>
#include <specsample/random/rng.hpp>
#include <specsample/shaping/spread.hpp>
#include <specsample/shaping/truncation.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The two cut-offs, at a probability that may follow the entropy.
template <bool follows_entropy>
class Cutoff {
  public:
    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token>) const {
        if (epsilon_ == 0 || row.is_greedy() || row.size() == 0) return;
        const auto [weights, total] = row.weights();
        if (!is_positive(total)) return;
        const auto largest = static_cast<double>(block_max(std::ssize(weights), weights.data()));
        const Value least = least_from(std::min(this->least(row) * total, largest), Value{0});
        auto& places = row.scratch().places;
        kernels::select_at_least(weights, least, places);
        row.keep(places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (epsilon_ != 0 && !outlook.is_greedy()) outlook.limit({});
    }

  protected:
    Cutoff(std::string_view name, double epsilon) : epsilon_(epsilon) {
        require(epsilon >= 0 && epsilon < 1, name, "epsilon", epsilon, "in [0, 1)");
    }

  private:
    /// Return the least probability that is kept.
    double least(auto& row) const {
        if constexpr (follows_entropy) return std::min(epsilon_, std::sqrt(epsilon_) * std::exp(-entropy_of(row)));
        return epsilon_;
    }

    double epsilon_;
};

}  // namespace detail

namespace filters {

/// Keep the tokens whose logit is at most n standard deviations of the possible logits below the largest. 0 keeps
/// everything.
///
/// A temperature moves neither: the set is the same at every one. llama.cpp turns the filter off by -1.
///
/// @cost   four passes over the candidates; a logarithm each for a row of probabilities
class TopNSigma {
  public:
    /// @throws std::invalid_argument unless n is finite and >= 0
    explicit TopNSigma(double n) : n_(n) {
        detail::require(detail::is_finite(n) && n >= 0, "TopNSigma", "n", n,
                        "a finite number >= 0; 0 keeps everything");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token>) const {
        if (n_ == 0 || row.is_greedy() || row.size() == 0) return;
        const std::span<const Value> levels = row.levels();
        const auto [largest, deviation] = detail::spread_of(levels);
        const double least = largest - detail::rounded(n_ * deviation);
        auto& places = row.scratch().places;
        constexpr Value impossible = -std::numeric_limits<Value>::infinity();
        kernels::select_at_least(levels, detail::least_from(least, impossible), places);
        row.keep(places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token>) const {
        if (n_ != 0 && !outlook.is_greedy()) outlook.limit({});
    }

  private:
    double n_;
};

/// Keep the tokens of probability epsilon or more; if there are none, the most probable one and its ties. 0 keeps
/// everything. Probabilities are normalised over the candidates left so far, at the temperature so far.
///
/// @cost   the weights of the candidates, and a pass
class EpsilonCutoff : public detail::Cutoff<false> {
  public:
    /// @throws std::invalid_argument unless 0 <= epsilon < 1
    explicit EpsilonCutoff(double epsilon) : Cutoff("EpsilonCutoff", epsilon) {}
};

/// Keep the tokens whose probability is at least the smaller of epsilon and sqrt(epsilon) exp(-H), H the entropy; if
/// there are none, the most probable one and its ties. 0 keeps everything. Probabilities are normalised over the
/// candidates left so far, at the temperature so far.
///
/// @cost   the weights of the candidates, and three passes; a logarithm each for a row of probabilities
class EtaCutoff : public detail::Cutoff<true> {
  public:
    /// @throws std::invalid_argument unless 0 <= epsilon < 1
    explicit EtaCutoff(double epsilon) : Cutoff("EtaCutoff", epsilon) {}
};

/// Exclude the top choices, sometimes: with a probability, leave out all tokens that are at least as probable as a
/// threshold, but for the least probable one of them (of equals the one with the highest id). It does nothing where
/// fewer than two tokens are so probable, and nothing at temperature 0.
///
///     Xtc{.probability = .5, .threshold = .1, .seed = seed}
///
/// Whether a position is changed is decided by a random number that belongs to the position: draft and target see the
/// same one, and a position that is judged again keeps it, so that the row is a function of the text and of the seed.
///
/// @draws   one, of Purpose::filter at the position in the text; none if probability is 0
/// @cost    at a position that is changed, the weights of the candidates and a pass
struct Xtc {
    double probability = 0;  ///< of a change, in [0, 1]; 0 changes nothing
    double threshold = .1;   ///< in (0, 1]; above .5 nothing changes
    std::uint64_t seed = 0;  ///< of the random numbers; give every request its own

    /// Check the settings.
    /// @throws std::invalid_argument for a setting out of range
    void check() const {
        detail::require(probability >= 0 && probability <= 1, "Xtc", "probability", probability, "in [0, 1]");
        detail::require(threshold > 0 && threshold <= 1, "Xtc", "threshold", threshold, "in (0, 1]");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        check();
        if (!changes(std::ssize(context)) || row.is_greedy() || row.size() == 0) return;
        const auto [weights, total] = row.weights();
        auto& choices = row.scratch().places;
        kernels::select_at_least(weights, detail::least_from(threshold * total, Value{0}), choices);
        Token least = -1;
        for (const Token place : choices)
            if (least < 0 || weights.data()[place] <= weights.data()[least]) least = place;
        if (choices.size() < 2) return;
        for (const Token place : choices)
            if (place != least) row.forbid(static_cast<Token>(row.id(place)));
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (changes(std::ssize(context)) && !outlook.is_greedy()) outlook.limit({});
    }

    /// Return whether a position is changed.
    bool changes(Index position) const {
        return probability > 0 &&
               Rng({.seed = seed, .position = position, .purpose = Purpose::filter}).uniform() < probability;
    }
};

}  // namespace filters

}}  // namespace specsample

// The most typical part of a distribution, as positions: those whose surprise is closest to the entropy.
//
// Meister et al.: "Locally typical sampling", TACL 2023 (arXiv:2202.00666), section 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <vector>

#include <specsample/core/number.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

namespace kernels {

/// A token, and how far it is from typical.
struct Typicality {
    double distance;  ///< | -ln p - H |, H the entropy
    Token id;
};

/// Memory that select_typical reuses from row to row.
struct TypicalScratch {
    std::vector<Typicality> tokens;
};
}  // namespace kernels

namespace detail {

/// From the most typical token to the least, the lowest id first on ties.
struct MoreTypical {
    bool operator()(const kernels::Typicality& a, const kernels::Typicality& b) const {
        return a.distance < b.distance || (a.distance == b.distance && a.id < b.id);
    }
};

/// Every token with probability, by id. What is no number has none: no distance is NaN, over which sorts run out of
/// bounds.
template <std::floating_point Value>
void typicalities(std::span<const Value> probs, std::vector<kernels::Typicality>& tokens) {
    tokens.clear();
    double entropy = 0;
    for (std::size_t i = 0; i < probs.size(); ++i) {
        const auto p = static_cast<double>(probs[i]);
        if (!is_positive(p)) continue;
        const double surprise = -std::log(p);
        entropy += p * surprise;
        tokens.push_back({surprise, static_cast<Token>(i)});
    }
    for (kernels::Typicality& token : tokens) token.distance = std::abs(token.distance - entropy);
}

/// Sort only as much of `tokens` as it takes to reach the target: some first, then four times as many.
/// @returns how many tokens that is
template <std::floating_point Value>
std::size_t typical_count(std::span<const Value> probs, std::span<kernels::Typicality> tokens, double target) {
    double mass = 0;
    std::size_t count = 0;
    for (std::size_t some = 1024; count < tokens.size(); some *= 4) {
        const auto rest = tokens.subspan(count);
        const auto next = rest.first(std::min(some, rest.size()));
        std::nth_element(rest.begin(), rest.begin() + std::ssize(next), rest.end(), MoreTypical{});
        std::sort(next.begin(), next.end(), MoreTypical{});
        for (const kernels::Typicality& token : next) {
            ++count;
            mass += static_cast<double>(probs.data()[token.id]);
            if (mass >= target) return count;
        }
    }
    return count;
}

}  // namespace detail

namespace kernels {

/// The positions, ascending, of the fewest most typical tokens whose probabilities sum to at least `fraction`. Typical
/// are those whose -ln p is close to the entropy, above or below; of two as close, the one with the lower id.
/// Everything positive if fraction >= 1, or if the sum does not get there.
///
/// Two tokens are as close only if their distances are equal in double. Implementations differ there: Hugging Face's
/// keeps all that are as close as the last, llama.cpp's leaves it to an unstable sort; and llama.cpp goes on until the
/// mass is above the fraction.
///
/// @pre  probabilities sum to 1
/// @cost two passes with a logarithm, then a sort of the part that is needed; no allocation once warm
template <std::floating_point Value>
void select_typical(std::span<const Value> probs, double fraction, std::vector<Token>& kept, TypicalScratch& scratch) {
    detail::typicalities(probs, scratch.tokens);
    const std::span<Typicality> tokens = scratch.tokens;
    const double target = fraction < 1 ? fraction : std::numeric_limits<double>::infinity();
    const std::size_t count = detail::typical_count(probs, tokens, target);
    kept.resize(count);
    std::ranges::transform(tokens.first(count), kept.begin(), &Typicality::id);
    std::ranges::sort(kept);
}
}  // namespace kernels

}  // namespace specsample

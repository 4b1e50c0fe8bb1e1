// The positions of the most typical part of a distribution: the tokens whose surprisal is closest to the entropy.
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

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace kernels {

/// A token, and the distance of its surprisal from the entropy.
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

/// List every token of positive probability, by id. A NaN counts as no probability, because a sort over a NaN distance
/// may run out of bounds.
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

/// Sort only as many tokens as it takes to reach the target: the 1024 most typical, then four times as many, ...
/// @returns the number of tokens that reach the target; all tokens if their sum does not
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

/// Set `kept` to the positions, ascending, of the fewest most typical tokens whose probabilities sum to at least
/// `fraction`. A token is the more typical the closer its -ln p is to the entropy, above or below; on ties the lower id
/// comes first.
///
/// Two tokens are equally close only if their distances are equal in double. Implementations differ there: Hugging
/// Face's filter keeps all tokens as close as the last one; llama.cpp's leaves the choice to an unstable sort, and goes
/// on until the mass is above the fraction.
///
/// @pre  probabilities sum to 1
/// @cost two passes, one with a logarithm, then a sort of the part that is needed; no allocation once warm
/// @edge all tokens of positive probability if fraction >= 1, or if their sum does not reach it
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

}}  // namespace specsample

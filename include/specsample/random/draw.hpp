// The coin seam: the only ways in which a rule meets chance.
//
//   accept(coin, s, q)     true with probability min(1, s/q)
//   draw(coin, weights)    an id with probability in proportion to its weight
//   race(coin, weights)    the same law, by noise that belongs to the ids
//
// A source may bring its own accept, draw and race; that is how a test enumerates every outcome with its exact
// probability instead of sampling some.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/random/address.hpp>

namespace specsample {

/// What a rule is given: `at(purpose, node)` names a coin.
template <class C>
concept CoinSource = requires(const C& coins, Purpose purpose, Index node) { coins.at(purpose, node); };

/// A source of its own for part number `part` of whoever draws with `coins`. Whoever runs a part inside a part hands it
/// one, so that addresses compose: a part numbers its nodes from 0, wherever it stands.
template <CoinSource Source>
auto split(const Source& coins, Index part) {
    static_assert(
        requires { coins.split(part); },
        "specsample: a random source for drafters inside drafters must have split(part), which returns a source that "
        "shares no number with it; Coins and BitCoins have it");
    return coins.split(part);
}

/// True with probability min(1, s/q), decided as u*q < s.
///
/// Strict, and without a division: s = 0 is never accepted, not even by u = 0, and 0/0 does not arise. A forced
/// token, the only one that the target allows, needs no coin.
/// @param s, q   the target's and the draft's weight of one token, double from the very scalars stored; q > 0
template <class Coin>
bool accept(const Coin& coin, double s, double q) {
    if constexpr (requires {
                      { coin.accept(s, q) } -> std::same_as<bool>;
                  }) {
        return coin.accept(s, q);
    } else {
        const bool is_forced = s >= 1 && s >= q;
        return is_forced || coin.uniform() * q < s;
    }
}

/// An index with probability weights[i] / sum(weights), and that sum. Its index is -1 where the sum is not a
/// positive number: nothing can be drawn.
template <class Coin, Weights W>
Drawn draw(const Coin& coin, const W& weights) {
    if constexpr (requires {
                      { coin.draw(weights) } -> std::same_as<Drawn>;
                  }) {
        return coin.draw(weights);
    } else {
        return draw_index(weights, [&] { return coin.uniform(); });
    }
}

namespace detail {

/// The noise of a race: lane i of a coin, for many i at once where the coin can.
template <class Coin>
auto noise_of(const Coin& coin) {
    return [&coin](std::span<const std::uint32_t> lanes, double* uniforms) {
        if constexpr (requires { coin.open_uniforms(lanes, uniforms); }) {
            coin.open_uniforms(lanes, uniforms);
        } else {
            for (const std::uint32_t lane : lanes) *uniforms++ = coin.open_uniform(lane);
        }
    };
}

}  // namespace detail

/// The winner of a race among ids, who arrive at times E_i / weights[i]; lane i of the coin is the noise of id i. Who
/// races other weights with the same coin races with the same noise. -1 where nothing can win.
template <class Coin, Weights W>
Index race(const Coin& coin, const W& weights) {
    if constexpr (requires {
                      { coin.race(weights) } -> std::same_as<Index>;
                  }) {
        return coin.race(weights);
    } else {
        return race_winner(weights, detail::noise_of(coin));
    }
}

/// The first winners.size() to arrive, in their order.
/// @param arrivals   room for as many times
/// @returns          how many can arrive at all
template <class Coin, Weights W>
Index race(const Coin& coin, const W& weights, std::span<Token> winners, std::span<double> arrivals) {
    if constexpr (requires {
                      { coin.race(weights, winners) } -> std::same_as<Index>;
                  }) {
        return coin.race(weights, winners);
    } else {
        return race_winners(weights, detail::noise_of(coin), winners, arrivals);
    }
}

}  // namespace specsample

// The coin seam: the only ways in which a rule meets chance.
//
//   accept(coin, s, q)   true with probability min(1, s/q)
//   draw(coin, row)      an id with probability in proportion to its weight
//   race(coin, row)      an id with the same probabilities, by noise that belongs to the ids
//
// A draw takes weights of any kind, or a plain row: an Eigen vector, a std::vector, a span, Logits or Sparse.
//
// A source may bring its own accept, draw and race; that is how a test enumerates every outcome with its exact
// probability instead of sampling some.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include <specsample/concepts.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/logits.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/random/address.hpp>

namespace specsample {

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

namespace detail {

/// Weights as they are, or those of a row: of logits without a normaliser.
template <class W>
decltype(auto) weights_of(const W& given) {
    if constexpr (Weights<W>) {
        return (given);
    } else {
        return row_weights(given);
    }
}

/// What a draw or a race needs, in a sentence each.
template <class Coin, class W>
struct DrawArguments {
    static constexpr bool is_coin = requires(const Coin& coin) { coin.uniform(); } ||
                                    requires(const Coin& coin) { coin.open_uniform(std::uint32_t{}); } ||
                                    requires(const Coin& coin) { coin.draw(RowWeights(Column<double>(nullptr, 0))); };
    static constexpr bool is_row = !is_coin || Weights<W> || Row<W>;
    static constexpr bool all = is_coin && is_row;
    static_assert(is_coin,
                  "specsample::draw: the first argument must be the random numbers of one address; write "
                  "draw(coins.at(Purpose::draft, node), row)");
    static_assert(is_row,
                  "specsample::draw: the second argument must be a row (an Eigen vector, std::vector or std::span of "
                  "floating point, Logits or Sparse) or weights; write draw(coins.at(Purpose::draft, node), row)");
};

}  // namespace detail

/// Draw an id with probability weights[i] / sum(weights), and return that sum with it. The id is -1 where the sum is
/// not a positive number: nothing can be drawn.
/// @param weights   Weights, or a row: draw(coins.at(Purpose::last, 0), row)
/// @cost            one uniform; one pass
template <class Coin, class W>
Drawn draw(const Coin& coin, const W& weights) {
    if constexpr (detail::DrawArguments<Coin, W>::all) {
        const auto& summed = detail::weights_of(weights);
        if constexpr (requires {
                          { coin.draw(summed) } -> std::same_as<Drawn>;
                      }) {
            return coin.draw(summed);
        } else {
            return draw_index(summed, [&] { return coin.uniform(); });
        }
    } else {
        return {};
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
/// @param weights   Weights, or a row
template <class Coin, class W>
Index race(const Coin& coin, const W& weights) {
    if constexpr (detail::DrawArguments<Coin, W>::all) {
        const auto& raced = detail::weights_of(weights);
        if constexpr (requires {
                          { coin.race(raced) } -> std::same_as<Index>;
                      }) {
            return coin.race(raced);
        } else {
            return race_winner(raced, detail::noise_of(coin));
        }
    } else {
        return -1;
    }
}

/// The first winners.size() to arrive, in their order.
/// @param arrivals   room for as many times
/// @returns          how many can arrive at all
template <class Coin, class W>
Index race(const Coin& coin, const W& weights, std::span<Token> winners, std::span<double> arrivals) {
    if constexpr (detail::DrawArguments<Coin, W>::all) {
        const auto& raced = detail::weights_of(weights);
        if constexpr (requires {
                          { coin.race(raced, winners) } -> std::same_as<Index>;
                      }) {
            return coin.race(raced, winners);
        } else {
            return race_winners(raced, detail::noise_of(coin), winners, arrivals);
        }
    } else {
        return 0;
    }
}

}  // namespace specsample

// The random draw seam: the only ways in which a rule meets chance.
//
//   accept(rng, s, q)   true with probability min(1, s/q)
//   draw(rng, row)      an id with probability in proportion to its weight
//   race(rng, row)      an id with the same probabilities, by noise that belongs to the ids
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

namespace detail {

/// A source of its own for part number `part` of whoever draws with `rng`. Whoever runs a part inside a part hands it
/// one, so that addresses compose: a part numbers its nodes from 0, wherever it stands.
template <RandomSource Source>
auto split(const Source& rng, Index part) {
    static_assert(
        requires { rng.split(part); },
        "specsample: a random source for drafters inside drafters must have split(part), which returns a source that "
        "shares no number with it; RoundRng and GeneratorRng have it");
    return rng.split(part);
}
}  // namespace detail

/// True with probability min(1, s/q), decided as u*q < s.
///
/// Strict, and without a division: s = 0 is never accepted, not even by u = 0, and 0/0 does not arise. A forced
/// token, the only one that the target allows, needs no random draw.
/// @param s, q   the target's and the draft's weight of one token, double from the very scalars stored; q > 0
template <class Rng>
bool accept(const Rng& rng, double s, double q) {
    if constexpr (requires {
                      { rng.accept(s, q) } -> std::same_as<bool>;
                  }) {
        return rng.accept(s, q);
    } else {
        const bool is_forced = s >= 1 && s >= q;
        return is_forced || rng.uniform() * q < s;
    }
}

namespace detail {

/// Weights as they are, or those of a row: of logits without a normaliser.
template <class W>
decltype(auto) weights_of(const W& given) {
    if constexpr (kernels::Weights<W>) {
        return (given);
    } else {
        return kernels::row_weights(given);
    }
}

/// What a draw or a race needs, in a sentence each.
template <class Rng, class W>
struct DrawArguments {
    static constexpr bool is_draw = requires(const Rng& rng) { rng.uniform(); } || requires(const Rng& rng) {
        rng.open_uniform(std::uint32_t{});
    } || requires(const Rng& rng) { rng.draw(kernels::RowWeights(Column<double>(nullptr, 0))); };
    static constexpr bool is_row = !is_draw || kernels::Weights<W> || Row<W>;
    static constexpr bool all = is_draw && is_row;
    static_assert(is_draw,
                  "specsample::draw: the first argument must be the random numbers of one address; write "
                  "draw(rng.at(Purpose::draft, node), row)");
    static_assert(is_row,
                  "specsample::draw: the second argument must be a row (an Eigen vector, std::vector or std::span of "
                  "floating point, Logits or Sparse) or weights; write draw(rng.at(Purpose::draft, node), row)");
};

}  // namespace detail

/// Draw an id with probability weights[i] / sum(weights), and return that sum with it. The id is -1 where the sum is
/// not a positive number: nothing can be drawn.
/// @param weights   Weights, or a row: draw(rng.at(Purpose::last, 0), row)
/// @cost            one uniform; one pass
template <class Rng, class W>
kernels::Drawn draw(const Rng& rng, const W& weights) {
    if constexpr (detail::DrawArguments<Rng, W>::all) {
        const auto& summed = detail::weights_of(weights);
        if constexpr (requires {
                          { rng.draw(summed) } -> std::same_as<kernels::Drawn>;
                      }) {
            return rng.draw(summed);
        } else {
            return kernels::draw_index(summed, [&] { return rng.uniform(); });
        }
    } else {
        return {};
    }
}

namespace detail {

/// The noise of a race: lane i of a random draw, for many i at once where the random draw can.
template <class Rng>
auto noise_of(const Rng& rng) {
    return [&rng](std::span<const std::uint32_t> lanes, double* uniforms) {
        if constexpr (requires { rng.open_uniforms(lanes, uniforms); }) {
            rng.open_uniforms(lanes, uniforms);
        } else {
            for (const std::uint32_t lane : lanes) *uniforms++ = rng.open_uniform(lane);
        }
    };
}

}  // namespace detail

/// The winner of a race among ids, who arrive at times E_i / weights[i]; lane i of the random draw is the noise of id
/// i. Who races other weights with the same random draw races with the same noise. -1 where nothing can win.
/// @param weights   Weights, or a row
template <class Rng, class W>
Index race(const Rng& rng, const W& weights) {
    if constexpr (detail::DrawArguments<Rng, W>::all) {
        const auto& raced = detail::weights_of(weights);
        if constexpr (requires {
                          { rng.race(raced) } -> std::same_as<Index>;
                      }) {
            return rng.race(raced);
        } else {
            return kernels::race_winner(raced, detail::noise_of(rng));
        }
    } else {
        return -1;
    }
}

/// The first winners.size() to arrive, in their order.
/// @param arrivals   room for as many times
/// @returns          how many can arrive at all
template <class Rng, class W>
Index race(const Rng& rng, const W& weights, std::span<Token> winners, std::span<double> arrivals) {
    if constexpr (detail::DrawArguments<Rng, W>::all) {
        const auto& raced = detail::weights_of(weights);
        if constexpr (requires {
                          { rng.race(raced, winners) } -> std::same_as<Index>;
                      }) {
            return rng.race(raced, winners);
        } else {
            return kernels::race_winners(raced, detail::noise_of(rng), winners, arrivals);
        }
    } else {
        return 0;
    }
}

}  // namespace specsample

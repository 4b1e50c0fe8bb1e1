// The three random decisions. Rules and drafters use random numbers through these functions only.
//
//   accept(rng, s, q)   true with probability min(1, s/q)
//   draw(rng, row)      an id with probability proportional to its weight
//   race(rng, row)      an id with the same probabilities, by noise that belongs to the ids
//
// `row` is any kind of weights, or a plain row: an Eigen vector, a std::vector, a span, Logits or Sparse.
//
// An RNG may have members accept, draw and race of its own: a test then enumerates every outcome with its exact
// probability instead of sampling some.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include <specsample/concepts.hpp>
#include <specsample/kernels/draw.hpp>
#include <specsample/kernels/race.hpp>
#include <specsample/kernels/weights.hpp>
#include <specsample/random/address.hpp>
#include <specsample/random/lanes.hpp>
#include <specsample/rows/logits.hpp>
#include <specsample/rows/returned.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace detail {

/// Return a separate source for part number `part` of a drafter that draws with `rng`. A drafter that runs other
/// drafters or rules gives each a source of its own, so that addresses compose: every part numbers its nodes from 0.
template <RandomSource Source>
auto split(const Source& rng, Index part) {
    static_assert(
        requires { rng.split(part); },
        "specsample: a random source for drafters inside drafters must have split(part), which returns a source that "
        "shares no number with it; RoundRng and GeneratorRng have it");
    return rng.split(part);
}

}  // namespace detail

/// Decide the acceptance of a token: true with probability min(1, s/q).
///
///     u * q < s,  u uniform in [0, 1)
///
/// The comparison is strict and has no division: s = 0 is never accepted, not even with u = 0, and 0/0 does not arise.
/// @param s, q   the target's and the draft's weight of one token, in double, from the stored scalars; q > 0
/// @draws        one; none where s >= 1 and s >= q: the target allows no other token
template <class Rng>
bool accept(const Rng& rng, double s, double q) {
    if constexpr (requires {
                      { rng.accept(s, q) } -> std::same_as<bool>;
                  }) {
        return rng.accept(s, q);
    } else {
        const bool is_forced = s >= 1 && s >= q;
        return is_forced || detail::is_accepted(rng.uniform(), s, q);
    }
}

namespace detail {

/// Return weights unchanged, or the weights of a row; the weights of logits are not normalised.
template <class W>
decltype(auto) weights_of(const W& given) {
    if constexpr (kernels::Weights<W>) {
        return (given);
    } else {
        return kernels::row_weights(given);
    }
}

/// The requirements of a draw or a race, with a message for each.
template <class Rng, class W>
struct DrawArguments {
    static constexpr bool is_draw = requires(const Rng& rng) { rng.uniform(); } || requires(const Rng& rng) {
        rng.open_uniform(std::uint32_t{});
    } || requires(const Rng& rng) { rng.draw(kernels::RowWeights(Column<double>(nullptr, 0))); };
    static constexpr bool is_row = !is_draw || kernels::Weights<W> || AnyRow<W>;
    static constexpr bool all = is_draw && is_row;
    static_assert(is_draw,
                  "specsample::draw: the first argument must be the random numbers of one address; write "
                  "draw(rng.at(Purpose::draft, node), row)");
    static_assert(is_row,
                  "specsample::draw: the second argument must be a row (an Eigen vector, std::vector or std::span of "
                  "floating point, Logits or Sparse) or weights; write draw(rng.at(Purpose::draft, node), row)");
};

}  // namespace detail

/// Draw an id with probability weights[i] / sum(weights), and return that sum with it.
/// @param weights   weights, or a row: draw(rng.at(Purpose::last, 0), row)
/// @draws           one; none where nothing can be drawn, or the row has one entry only
/// @cost            one pass
/// @edge            id -1 where the sum is not a positive number: nothing can be drawn
template <class Rng, class W>
kernels::Drawn draw(const Rng& rng, const W& weights) {
    if constexpr (detail::DrawArguments<Rng, W>::all && detail::RowValue<W>) {
        return detail::with_row(weights, [&](const auto& row) { return draw(rng, row); });
    } else if constexpr (detail::DrawArguments<Rng, W>::all) {
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

/// An RNG that can race: it has numbers by lane, one or many at once, or a race of its own. A GeneratorRng cannot race.
template <class Rng>
concept RacingRng = requires(const Rng& rng) { rng.open_uniform(std::uint32_t{}); } ||
                    requires(const Rng& rng, std::span<const std::uint32_t> lanes) {
                        rng.open_uniforms(lanes, static_cast<double*>(nullptr));
                    } || requires(const Rng& rng, std::span<Token> winners) {
                        rng.race(kernels::RowWeights(Column<double>(nullptr, 0)), winners);
                    };

/// Return the noise of a race: lanes of one address, many at once where the RNG can.
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

/// The requirements of a race: the requirements of a draw, and noise that belongs to ids.
template <class Rng, class W>
struct RaceArguments {
    static constexpr bool has_noise = !DrawArguments<Rng, W>::all || RacingRng<Rng>;
    static constexpr bool all = DrawArguments<Rng, W>::all && has_noise;
    static_assert(
        has_noise,
        "specsample::race: these random numbers have no open_uniform(lane), and the noise of a race belongs to "
        "ids; give RoundRng(seed, request, round_start) in place of GeneratorRng, or a rule other than "
        "GumbelMatch");
};

}  // namespace detail

/// Draw an id by a race: the smallest arrival E_i / weights[i] wins, E_i exponential.
///
/// E_i is a function of the address and of i alone, so races of different weights at one address share their noise.
/// @param weights   weights, or a row: race(rng.at(Purpose::race, 0), row). Logits are not normalised
/// @returns         the winner; -1 where nothing can win
/// @draws           one number per block of 64 ids, and one for each id that may win
/// @cost            one pass, as of an argmax, and a random number per 64 ids
template <class Rng, class W>
Index race(const Rng& rng, const W& weights) {
    if constexpr (detail::RaceArguments<Rng, W>::all && detail::RowValue<W>) {
        return detail::with_row(weights, [&](const auto& row) { return race(rng, row); });
    } else if constexpr (detail::RaceArguments<Rng, W>::all) {
        if constexpr (requires {
                          { rng.race(detail::weights_of(weights)) } -> std::same_as<Index>;
                      }) {
            return rng.race(detail::weights_of(weights));
        } else {
            return kernels::race_winner(kernels::race_weights(weights), detail::noise_of(rng));
        }
    } else {
        return -1;
    }
}

/// Draw several ids by a race: the first winners.size() to arrive, in the order of arrival. This is a draw without
/// replacement.
/// @param winners    the ids, written here
/// @returns          the number of winners written; -1 if a weight is NaN, infinite or negative
/// @throws           std::invalid_argument for winners at a null address
/// @draws            one number per block of 64 ids, and one for each id that may be among the winners
/// @cost             one pass; allocates for more than 64 winners
template <class Rng, class W>
Index race(const Rng& rng, const W& weights, std::span<Token> winners) {
    if constexpr (detail::RaceArguments<Rng, W>::all && detail::RowValue<W>) {
        return detail::with_row(weights, [&](const auto& row) { return race(rng, row, winners); });
    } else if constexpr (detail::RaceArguments<Rng, W>::all) {
        detail::require_memory("race", "winners", winners);
        if constexpr (requires {
                          { rng.race(detail::weights_of(weights), winners) } -> std::same_as<Index>;
                      }) {
            return rng.race(detail::weights_of(weights), winners);
        } else {
            std::array<double, 64> few;
            std::vector<double> many(winners.size() > few.size() ? winners.size() : 0);
            return kernels::race_winners(kernels::race_weights(weights), detail::noise_of(rng), winners,
                                         many.empty() ? std::span(few).first(winners.size()) : std::span(many));
        }
    } else {
        return 0;
    }
}

}}  // namespace specsample

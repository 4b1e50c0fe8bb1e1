// The exponential race: every id draws an arrival time, the first one wins.
//
//     E_i = -ln U_i,   winner = argmin_i E_i / w_i        P(i wins) = w_i / sum w
//
// The noise belongs to the ids, not to the weights: two rows that race with the same noise tend to agree, and a row
// that races alone gets the same winner. It needs no sum, so it is the same on any machine and in any partition.
// Adding Gumbel noise to log-probabilities and taking the maximum is the same race. Where more than one winner is
// asked for, they come in the order of a draw without replacement (Gumbel top-k).
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include <specsample/core/number.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

/// The `winners.size()` first ids of a race, in the order of their arrival.
///
/// @param noise     noise(lane) is a uniform number in (0, 1), always the same for the same lane; a lane is an id
/// @param winners   where the ids go; as many as can win: an id of weight 0 never arrives
/// @returns         how many have arrived; -1 if a weight is NaN, infinite or negative
/// @cost            one number per id of positive weight; a logarithm only for an id that may still win
/// @edge            equal arrivals: the lowest id first
template <Weights W, std::invocable<std::uint32_t> Noise>
Index race_winners(const W& weights, Noise&& noise, std::span<Token> winners, std::span<double> arrivals) {
    const auto places = static_cast<Index>(winners.size());
    Index arrived = 0;
    for (Index i = 0; i < weights.size(); ++i) {
        const double weight = weights[i];
        if (!is_positive(weight)) {
            if (is_zero(weight)) continue;
            return -1;
        }
        const Index id = id_of(weights, i);
        const double u = noise(static_cast<std::uint32_t>(id));
        const double latest =
            arrived < places ? std::numeric_limits<double>::infinity() : arrivals[static_cast<std::size_t>(places) - 1];
        if (1 - u >= latest * weight) continue;  // -ln u >= 1 - u: too late without a logarithm
        const double arrival = -std::log(u) / weight;
        if (!(arrival < latest)) continue;
        auto place = static_cast<std::size_t>(arrived < places ? arrived++ : places - 1);
        for (; place > 0 && arrivals[place - 1] > arrival; --place) {
            arrivals[place] = arrivals[place - 1];
            winners[place] = winners[place - 1];
        }
        arrivals[place] = arrival;
        winners[place] = static_cast<Token>(id);
    }
    return arrived;
}

/// The winner of a race, -1 if there is none.
template <Weights W, std::invocable<std::uint32_t> Noise>
Index race_winner(const W& weights, Noise&& noise) {
    Token winner = -1;
    double arrival = 0;
    return race_winners(weights, noise, {&winner, 1}, {&arrival, 1}) == 1 ? winner : -1;
}

}  // namespace specsample

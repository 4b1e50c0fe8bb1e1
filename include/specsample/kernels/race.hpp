// The exponential race: every id draws an arrival time, the first one wins.
//
//     E_i = -ln U_i,   winner = argmin_i E_i / w_i        P(i wins) = w_i / sum w
//
// The noise belongs to the ids, not to the weights: two rows that race with the same noise tend to agree, and a row
// that races alone gets the same winner. It needs no sum, so it is the same on any machine and in any partition.
// Adding Gumbel noise to log-probabilities and taking the maximum is the same race. Where more than one winner is
// asked for, they come in the order of a draw without replacement (Gumbel top-k).
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <specsample/core/number.hpp>
#include <specsample/kernels/weights.hpp>

namespace specsample {

namespace kernels {

/// Uniform numbers in (0, 1) for lanes, always the same for the same lane: noise(lanes, where they go).
template <class N>
concept LaneNoise = std::invocable<N&, std::span<const std::uint32_t>, double*>;
}  // namespace kernels

namespace detail {

/// Who has arrived so far.
class Podium {
  public:
    Podium(std::span<Token> winners, std::span<double> arrivals) : winners_(winners), arrivals_(arrivals) {}

    Index arrived() const { return static_cast<Index>(arrived_); }

    void enter(std::uint32_t id, double weight, double u) {
        const std::size_t places = winners_.size();
        const double latest = arrived_ < places ? std::numeric_limits<double>::infinity() : arrivals_[places - 1];
        if (1 - u >= latest * weight) return;  // -ln u >= 1 - u: too late without a logarithm
        const double arrival = -std::log(u) / weight;
        if (!(arrival < latest)) return;
        std::size_t place = arrived_ < places ? arrived_++ : places - 1;
        for (; place > 0 && arrivals_[place - 1] > arrival; --place) {
            arrivals_[place] = arrivals_[place - 1];
            winners_[place] = winners_[place - 1];
        }
        arrivals_[place] = arrival;
        winners_[place] = static_cast<Token>(id);
    }

  private:
    std::span<Token> winners_;
    std::span<double> arrivals_;
    std::size_t arrived_ = 0;
};

}  // namespace detail

namespace kernels {

/// The `winners.size()` first ids of a race, in the order of their arrival.
///
/// @param noise     a lane is an id
/// @param winners   where the ids go; as many as can win: an id of weight 0 never arrives
/// @param arrivals  room for as many times
/// @returns         how many have arrived; -1 if a weight is NaN, infinite or negative
/// @cost            one number per id of positive weight; a logarithm only for an id that may still win
/// @edge            equal arrivals: the lowest id first
template <Weights W, LaneNoise N>
Index race_winners(const W& weights, N&& noise, std::span<Token> winners, std::span<double> arrivals) {
    constexpr std::size_t at_once = 64;
    std::array<std::uint32_t, at_once> ids;
    std::array<double, at_once> rates, uniforms;
    std::size_t count = 0;
    detail::Podium podium(winners, arrivals);
    const auto run = [&] {
        noise(std::span<const std::uint32_t>(ids).first(count), uniforms.data());
        for (std::size_t i = 0; i < count; ++i) podium.enter(ids[i], rates[i], uniforms[i]);
        count = 0;
    };
    for (Index i = 0; i < weights.size(); ++i) {
        const double weight = weights[i];
        if (!detail::is_positive(weight)) {
            if (detail::is_zero(weight)) continue;
            return -1;
        }
        ids[count] = static_cast<std::uint32_t>(id_of(weights, i));
        rates[count] = weight;
        if (++count == at_once) run();
    }
    run();
    return podium.arrived();
}

/// The winner of a race, -1 if there is none.
template <Weights W, LaneNoise N>
Index race_winner(const W& weights, N&& noise) {
    Token winner = -1;
    double arrival = 0;
    return race_winners(weights, noise, {&winner, 1}, {&arrival, 1}) == 1 ? winner : -1;
}
}  // namespace kernels

}  // namespace specsample

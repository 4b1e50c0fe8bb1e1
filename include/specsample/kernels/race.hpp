// The exponential race: every id draws an arrival time, and the first to arrive wins.
//
//     E_i = -ln U_i,   winner = argmin_i E_i / w_i        P(i wins) = w_i / sum w
//
// The noise belongs to the ids, not to the weights: two rows that race with the same noise tend to agree, and a row
// that races alone gets the same winner. The race needs no sum, so its winner is the same on any machine and in any
// partition. It is the Gumbel trick: the maximum of log-probabilities plus Gumbel noise. Several winners come in the
// order of a draw without replacement (Gumbel top-k).
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

namespace specsample::inline SPECSAMPLE_ABI {

namespace kernels {

/// A source of noise: noise(lanes, out) writes a uniform number in (0, 1) per lane, always the same for the same lane.
template <class N>
concept LaneNoise = std::invocable<N&, std::span<const std::uint32_t>, double*>;
}  // namespace kernels

namespace detail {

/// The earliest arrivals so far, in order.
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

/// The first winners.size() ids of an exponential race, in the order of their arrival.
///
/// @param noise     noise by id: an id is a lane
/// @param winners   output: the ids
/// @param arrivals  output: their arrival times, as many
/// @returns         the number of winners, fewer than asked for if fewer ids have positive weight; -1 if a weight is
///                  NaN, infinite or negative
/// @draws           one uniform number per id of positive weight
/// @cost            one pass; a logarithm only for an id that may still win
/// @edge            equal arrivals: the lowest id first; an id of weight 0 never wins
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

/// The id that wins an exponential race; -1 if no weight is positive, or one is NaN, infinite or negative.
template <Weights W, LaneNoise N>
Index race_winner(const W& weights, N&& noise) {
    Token winner = -1;
    double arrival = 0;
    return race_winners(weights, noise, {&winner, 1}, {&arrival, 1}) == 1 ? winner : -1;
}
}  // namespace kernels

}  // namespace specsample

// Arrival times of a race, E / w for every positive weight, the way back, and the first to arrive.
//
// A double cannot hold E / w for weights below 1e-306, and not all bits of it for weights above 1e290. Such times are
// stored by their logarithms, as doubles just outside of [2^-1000, 2^1000], so that all times keep their order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <specsample/core/config.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

inline constexpr double longest_time = 0x1p1000;

/// The step per unit of a logarithm. The binary logarithm of a time outside of the range is within 128 of the range's
/// end.
inline constexpr double time_step = 1. / 128;

inline bool is_plain_time(double arrival) { return arrival > 1 / longest_time && arrival < longest_time; }

/// Return when an id of positive weight with the exponential time `time` arrives.
inline double arrival_of(double time, double weight) {
    const double arrival = time / weight;
    if (is_plain_time(arrival)) return arrival;
    const double exponent = std::log2(time) - std::log2(weight);
    if (exponent > 0) return longest_time * (1 + (exponent - 1000) * time_step);
    return 1 / longest_time * (1 + (exponent + 1000) * time_step);
}

/// Return the exponential time with which an id of this positive weight would arrive at `arrival`, at most 2^1000.
inline double time_until(double arrival, double weight) {
    if (is_plain_time(arrival)) return std::min(arrival * weight, longest_time);
    const bool is_long = arrival > 1;
    const double steps = is_long ? arrival / longest_time : arrival * longest_time;
    const double exponent = (is_long ? 1000 : -1000) + (steps - 1) / time_step;
    return std::exp2(std::min(exponent + std::log2(weight), 1000.));
}

/// The earliest arrivals so far, in order; the lowest id first on ties.
class Podium {
  public:
    Podium(std::span<Token> winners, std::span<double> arrivals) : winners_(winners), arrivals_(arrivals) {}

    Index arrived() const { return static_cast<Index>(arrived_); }
    bool is_full() const { return arrived_ == winners_.size(); }
    /// Return the latest of these arrivals.
    double latest() const { return arrivals_[arrived_ - 1]; }

    /// Enter an id, unless its arrival comes too late.
    /// @returns   false if it comes too late
    bool enter(Token id, double arrival) {
        const auto is_later = [&](std::size_t place) {
            return arrivals_[place] > arrival || (arrivals_[place] == arrival && winners_[place] > id);
        };
        if (is_full() && !is_later(arrived_ - 1)) return false;
        std::size_t place = is_full() ? arrived_ - 1 : arrived_++;
        for (; place > 0 && is_later(place - 1); --place) {
            arrivals_[place] = arrivals_[place - 1];
            winners_[place] = winners_[place - 1];
        }
        arrivals_[place] = arrival;
        winners_[place] = id;
        return true;
    }

  private:
    std::span<Token> winners_;
    std::span<double> arrivals_;
    std::size_t arrived_ = 0;
};

}  // namespace detail

}}  // namespace specsample

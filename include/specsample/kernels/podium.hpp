// The winners of a race.
#pragma once

#include <cstddef>
#include <span>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

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

}}}  // namespace specsample::detail

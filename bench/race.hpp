// A race: our kernel, its textbook form and plain reads of the same bytes, timed in turn in one process.
//
// Times on a shared machine change by a factor of two within minutes; ratios of times taken right after each other do
// not. So a race reports our time, and two ratios of times from the same laps.
#pragma once

#include "plain_read.hpp"

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// One contestant: maps a case and the position of its rows to its result.
///
/// A case is a set of random numbers: the cost of a round depends on how many tokens it accepts, that of a scan on
/// where it ends.
using Contestant = std::function<double(std::size_t one, Index position)>;

struct Race {
    std::size_t cases = 0;
    Index step = 0;    ///< positions that a turn uses; 0 for hot rows
    double bytes = 0;  ///< bytes that a plain read reads, the mean over the cases
    Contestant ours{};
    Contestant textbook{};  ///< empty if there is none
    std::vector<Contestant> reads{};
    const char* refused = nullptr;  ///< the reason why the race must not be run, if there is one
};

/// Make a race of functions.
///
/// @param step             positions that a turn uses if rows are cold
/// @param ours, textbook   map (case, position) to a number; nullptr for no textbook
/// @param read             maps (reader, case, position) to the reader's result for the rows that the case needs
template <class Case, class Ours, class Textbook, class Read>
Race make_race(const Setting& setting, Index step, std::vector<Case> all, const Ours& ours, const Textbook& textbook,
               const Read& read) {
    const auto cases = std::make_shared<const std::vector<Case>>(std::move(all));
    const auto contestant = [&](const auto& f) -> Contestant {
        return [cases, f](std::size_t one, Index position) { return static_cast<double>(f((*cases)[one], position)); };
    };
    Race race{.cases = cases->size(), .step = setting.cold ? step : 0, .ours = contestant(ours)};
    if constexpr (!std::is_null_pointer_v<Textbook>) race.textbook = contestant(textbook);
    const auto reading = [&](const auto& reader) {
        return contestant([=](const Case& one, Index position) { return read(reader, one, position); });
    };
    std::apply([&](const auto&... reader) { (race.reads.push_back(reading(reader)), ...); }, readers);
    for (const Case& one : *cases) race.bytes += read(CountBytes{}, one, 0) / static_cast<double>(cases->size());
    return race;
}

/// Nanoseconds per case. For the read they are those of the fastest reader.
struct Figures {
    double ours = 0, textbook = 0, read = 0;

    double x_read() const { return ours / read; }          ///< 1 is the limit
    double x_textbook() const { return textbook / ours; }  ///< 0 if there is no textbook
};

/// Runs the contestants of a race in turn, case by case, lap after lap. A call is short compared with a scheduler's
/// time slice. Each case has a median of its own; the figures are the means of these medians.
class Laps {
  public:
    explicit Laps(const Race& race);

    /// Run every contestant once at every case.
    /// @returns our nanoseconds
    double lap();

    Figures figures() const;

  private:
    double turn(const Contestant& contestant, std::size_t one) const;
    double mean_of_medians(std::size_t contestant) const;

    const Race& race_;
    std::vector<const Contestant*> contestants_;           ///< ours, the reads, the textbook
    std::vector<std::vector<std::vector<double>>> times_;  ///< by contestant and case
};

}  // namespace bench

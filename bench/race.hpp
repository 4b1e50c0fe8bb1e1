// A race: ours, the textbook's form and plain reads of the same bytes, timed in turn in one process.
//
// The times of a shared machine move by a factor of two within minutes; the ratio of neighbours does not. So what is
// reported is our time, and beside it two ratios of times from the same laps.
#pragma once

#include "plain_read.hpp"

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// One contestant: from a case and the position of its rows to what it found there.
///
/// A case is a set of random draws: a round's cost depends on how many tokens it accepts, and a scan's on where it
/// ends.
using Contestant = std::function<double(std::size_t one, Index position)>;

struct Race {
    std::size_t cases = 0;
    Index step = 0;    ///< positions that a turn uses up: 0 for hot rows
    double bytes = 0;  ///< that a read reads, the mean of the cases
    Contestant ours{};
    Contestant textbook{};  ///< there may be none
    std::vector<Contestant> reads{};
    const char* refused = nullptr;  ///< why it is not to be run
};

/// A race of functions.
///
/// @param step             positions that a turn uses up, where rows are cold
/// @param ours, textbook   from (case, position): a number; nullptr for no textbook
/// @param read             from (reader, case, position): the reader's answer to the rows that the case needs
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

/// Nanoseconds per case. Those of the read are the best reader's.
struct Figures {
    double ours = 0, textbook = 0, read = 0;

    double x_read() const { return ours / read; }          ///< 1 is the limit
    double x_textbook() const { return textbook / ours; }  ///< 0 where there is none
};

/// The contestants of a race, one after the other, case by case, and again. Each case has a median of its own, taken
/// over calls that are short beside a scheduler's slice; the figures are the means of those.
class Laps {
  public:
    explicit Laps(const Race& race);

    /// One turn of everybody at every case. @returns our nanoseconds
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

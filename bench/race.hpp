// A race: ours, the textbook's form and plain reads of the same bytes, timed in turn in one process.
//
// The times of a shared machine move by a factor of two within minutes; the ratio of neighbours does not. What is
// reported is our time, and beside it
//
//   x_read       our time / the best plain read's: 1 is the limit
//   x_textbook   the textbook's time / ours
//   median_ns    our time; "Time" is the mean, with whatever came in between
#pragma once

#include "plain_read.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

namespace bench {

/// Nanoseconds of work(). By the wall clock, which is read in 20 ns, where the thread's CPU clock is a system call
/// of hundreds; what a preemption adds is dropped by the medians.
template <class Work>
double time_of(const Work& work) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    auto result = work();
    benchmark::DoNotOptimize(result);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Where a contestant finds its rows: where it has just been, or where nobody was for a whole pool's length.
class Track {
  public:
    /// @param step   positions that a contestant uses up
    Track(const Setting& setting, Index step = 1) : pool_(pool(setting)), step_(setting.cold ? step : 0) {}

    const Pool& rows() const { return pool_; }

    /// The nanoseconds of work(position).
    template <class Work>
    double time(const Work& work) {
        position_ += step_;
        const auto here = [&] { return work(position_); };
        if (step_ == 0) time_of(here);  // warms the caches for the turn that counts
        return time_of(here);
    }

  private:
    const Pool& pool_;
    Index step_;
    Index position_ = 0;
};

/// The middle of at least one time.
inline double median(std::vector<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

/// Times one contestant after the other, case by case, and again. A case is a set of coins: a round's cost depends on
/// how many tokens it accepts, and a scan's on where it ends. So each case has a median of its own, taken over calls
/// that are short beside a scheduler's slice; the figures are the means of those.
template <class Case, class... Contestants>
std::array<double, sizeof...(Contestants)> race_times(benchmark::State& state, Track& track,
                                                      const std::vector<Case>& cases,
                                                      const Contestants&... contestants) {
    std::array<std::vector<std::vector<double>>, sizeof...(Contestants)> times;
    for (auto& by_case : times) by_case.resize(cases.size());
    while (state.KeepRunningBatch(static_cast<std::int64_t>(cases.size()))) {
        double ours = 0;
        for (std::size_t c = 0; c < cases.size(); ++c) {
            std::size_t i = 0;
            const auto turn = [&](const auto& contestant) {
                times[i++][c].push_back(track.time([&](Index position) { return contestant(cases[c], position); }));
            };
            (turn(contestants), ...);
            ours += times[0][c].back();
        }
        state.SetIterationTime(ours * 1e-9);
    }
    std::array<double, sizeof...(Contestants)> means{};
    for (std::size_t i = 0; i < means.size(); ++i)
        for (const auto& of_case : times[i]) means[i] += median(of_case) / static_cast<double>(cases.size());
    state.counters["median_ns"] = means[0];
    return means;
}

/// Race ours and the textbook's form against the plain reads.
///
/// @param ours, textbook   from (case, position): a number
/// @param read             from (reader, case, position): reader's answer to the rows that the case needs
template <class Case, class Ours, class Textbook, class Read>
void race(benchmark::State& state, Track track, const std::vector<Case>& cases, const Ours& ours,
          const Textbook& textbook, const Read& read) {
    const auto times = std::apply(
        [&](const auto&... reader) {
            return race_times(state, track, cases, ours, textbook,
                              [&](const Case& one, Index position) { return read(reader, one, position); }...);
        },
        readers);
    state.counters["x_read"] = times[0] / *std::min_element(times.begin() + 2, times.end());
    state.counters["x_textbook"] = times[1] / times[0];
}

}  // namespace bench

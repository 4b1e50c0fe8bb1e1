#include "race.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace bench {
namespace {

volatile double sink;

/// Nanoseconds of the last of `calls` calls by the wall clock, which is precise and read in 20 ns but runs on while
/// other programs do. So the result is bounded by the calls' mean processor time, which has ticks of a microsecond.
double time_of(const Contestant& contestant, std::size_t one, Index position, int calls) {
    using Clock = std::chrono::steady_clock;
    const std::clock_t ticks = std::clock();
    for (int i = 1; i < calls; ++i) sink = contestant(one, position);
    const auto start = Clock::now();
    sink = contestant(one, position);
    const double wall = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    const double processor = static_cast<double>(std::clock() - ticks + 1) * (1e9 / CLOCKS_PER_SEC);
    return std::min(wall, processor / calls);
}

/// The median of at least one time.
double median(std::vector<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace

Laps::Laps(const Race& race) : race_(race), contestants_{&race.ours} {
    for (const Contestant& read : race.reads) contestants_.push_back(&read);
    if (race.textbook) contestants_.push_back(&race.textbook);
    times_.assign(contestants_.size(), std::vector<std::vector<double>>(race.cases));
}

double Laps::turn(const Contestant& contestant, std::size_t one) const {
    if (race_.step == 0) return time_of(contestant, one, 0, 2);  // the first call warms the caches
    const Index here = coldest_position();
    coldest_position() += race_.step;
    return time_of(contestant, one, here, 1);
}

double Laps::lap() {
    double ours = 0;
    for (std::size_t one = 0; one < race_.cases; ++one) {
        for (std::size_t i = 0; i < contestants_.size(); ++i) times_[i][one].push_back(turn(*contestants_[i], one));
        ours += times_[0][one].back();
    }
    return ours;
}

double Laps::mean_of_medians(std::size_t contestant) const {
    double sum = 0;
    for (const auto& of_case : times_[contestant]) sum += median(of_case);
    return sum / static_cast<double>(race_.cases);
}

Figures Laps::figures() const {
    Figures result{.ours = mean_of_medians(0), .read = mean_of_medians(1)};
    for (std::size_t i = 2; i <= race_.reads.size(); ++i) result.read = std::min(result.read, mean_of_medians(i));
    if (race_.textbook) result.textbook = mean_of_medians(contestants_.size() - 1);
    return result;
}

}  // namespace bench

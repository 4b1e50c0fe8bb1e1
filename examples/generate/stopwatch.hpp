// Seconds of wall clock, for what the examples report.
#pragma once

#include <chrono>

/// Seconds of wall clock.
class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

// Wall-clock timing for the reports of the examples.
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

/// Base of models whose passes are timed and counted.
class Metered {
  public:
    double seconds() const { return seconds_; }
    long passes() const { return passes_; }

  protected:
    /// Times one pass, from here to the end of the block.
    class Pass {
      public:
        explicit Pass(Metered& metered) : metered_(metered) {}
        ~Pass() {
            metered_.seconds_ += watch_.seconds();
            ++metered_.passes_;
        }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

      private:
        Metered& metered_;
        Stopwatch watch_;
    };

  private:
    double seconds_ = 0;
    long passes_ = 0;
};

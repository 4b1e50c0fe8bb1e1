// Timing for the examples: wall clock for reports, the thread's own time for what is learnt from it.
#pragma once

#include <chrono>
#include <ctime>

/// Seconds of wall clock.
class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Seconds in which this thread has computed. On a core that others use, a round takes longer by the wall clock, however
/// much it drafts: lengths that are learnt from such times would be wrong. Where there is no such clock, wall clock.
class WorkStopwatch {
  public:
    double seconds() const { return now() - start_; }

  private:
    static double now() {
#ifdef CLOCK_THREAD_CPUTIME_ID
        std::timespec time{};
        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
            return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
#endif
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    double start_ = now();
};

/// Base of models whose passes are timed and counted.
class Metered {
  public:
    double seconds() const { return seconds_; }
    double work_seconds() const { return work_seconds_; }  ///< by WorkStopwatch
    long passes() const { return passes_; }

  protected:
    /// Times one pass, from here to the end of the block.
    class Pass {
      public:
        explicit Pass(Metered& metered) : metered_(metered) {}
        ~Pass() {
            metered_.seconds_ += watch_.seconds();
            metered_.work_seconds_ += work_.seconds();
            ++metered_.passes_;
        }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

      private:
        Metered& metered_;
        Stopwatch watch_;
        WorkStopwatch work_;
    };

  private:
    double seconds_ = 0;
    double work_seconds_ = 0;
    long passes_ = 0;
};

// One call of an object at a time: a call that begins before another has ended is refused.
#pragma once

#include <atomic>
#include <string_view>

#include <specsample/core/contract.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A flag that is set while a call of its object runs. It belongs to the object and not to its value: a copy starts
/// with no call.
class OneCall {
  public:
    OneCall() = default;
    OneCall(const OneCall&) {}
    OneCall& operator=(const OneCall&) { return *this; }

    /// Sets the flag for as long as a call lasts.
    class [[nodiscard]] Guard {
      public:
        /// @throws std::invalid_argument if another call is under way, on this thread or on another one
        /// @cost   one atomic exchange
        Guard(OneCall& call, std::string_view where) : call_(call) {
            if (call.under_way_.test_and_set(std::memory_order_acquire))
                invalid(where, "a call", "made during another one of the same object",
                        "made after it: by one thread at a time, and not from its own models or callbacks");
        }
        ~Guard() { call_.under_way_.clear(std::memory_order_release); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

      private:
        OneCall& call_;
    };

  private:
    std::atomic_flag under_way_{};
};

}}}  // namespace specsample::detail

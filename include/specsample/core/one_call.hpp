// Calls of an object, one at a time: a second one that begins before the first has ended is refused.
#pragma once

#include <atomic>
#include <string_view>

#include <specsample/core/contract.hpp>

namespace specsample::detail {

/// The call of an object that is under way, if there is one. It belongs to the object and not to its value: a copy has
/// none.
class OneCall {
  public:
    OneCall() = default;
    OneCall(const OneCall&) {}
    OneCall& operator=(const OneCall&) { return *this; }

    /// Lasts as long as a call.
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

}  // namespace specsample::detail

#pragma once

// A team of threads that share work far smaller than the start of a thread.
//
// Work comes in pieces, and whoever is free takes the next one: a member that the machine has no processor for takes
// none, and the others do not wait for it. Between two pieces of work a member looks out for more for some microseconds
// before it sleeps, so that the products of one pass find the team awake, while a team without work costs nothing.

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/kernel.hpp"

namespace engine {

/// The calling thread and size() - 1 others. One call of run at a time.
class Team {
  public:
    /// Throws std::invalid_argument for fewer than one thread. A team of one starts no thread.
    explicit Team(Index threads = 1);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    Index size() const { return static_cast<Index>(others_.size()) + 1; }

    /// Calls work(piece, member) once for each of 0 to pieces - 1, and returns when all are done. Member 0 is the
    /// caller, and each member is one thread. What the caller's work throws is passed on once nobody is at work any
    /// more; pieces that nobody has begun by then are left out. The others' must not throw.
    template <class Work>
    void run(Index pieces, Work&& work) {
        if (others_.empty() || pieces <= 1) {
            for (Index piece = 0; piece < pieces; ++piece) work(piece, Index{0});
            return;
        }
        call_ = [](void* context, Index piece, Index member) {
            (*static_cast<std::remove_reference_t<Work>*>(context))(piece, member);
        };
        context_ = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
        begin(pieces);
        const AtEnd finish{*this};
        help(0);
    }

  private:
    using Call = void (*)(void* context, Index piece, Index member);

    struct AtEnd {
        Team& team;
        ~AtEnd() { team.finish(); }
    };

    void begin(Index pieces);  // offers them to everybody
    void help(Index member);   // does pieces for as long as there are any
    void finish();             // withdraws what nobody has begun, and waits for the rest
    void stop();
    void serve(Index member) noexcept;

    // Of the work that is offered: written before it is, and left alone until all of its pieces are done.
    Call call_ = nullptr;
    void* context_ = nullptr;
    std::uint64_t round_ = 0;
    // On cache lines of their own, or each look at the one would slow down writing to the other.
    alignas(64) std::atomic<std::uint64_t> offered_{0};  // the round above, and below the pieces nobody has begun
    alignas(64) std::atomic<std::int32_t> unfinished_{0};
    alignas(64) std::atomic<std::int32_t> news_{0};  // counts what members should look up for
    std::atomic<bool> stopped_{false};
    std::vector<std::jthread> others_;  // last, so that they are gone before what they look at
};

}  // namespace engine

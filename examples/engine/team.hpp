#pragma once

// A team of threads for work that is far shorter than the start of a thread.
//
// Work comes in pieces, and each free thread takes the next one: a thread that has no processor takes none, and the
// others do not wait for it. Between two pieces of work a thread spins for some microseconds before it sleeps, so that
// the products of one pass find the team awake, while a team without work costs nothing.

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/kernel.hpp"

namespace engine {

/// The calling thread and size() - 1 others. Calls of run must not overlap.
class Team {
  public:
    /// Throws std::invalid_argument for fewer than one thread. A team of one starts no thread.
    explicit Team(Index threads = 1);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    Index size() const { return static_cast<Index>(others_.size()) + 1; }

    /// Calls work(piece, member) once for each of 0 to pieces - 1, and returns when all are done. Member 0 is the
    /// caller, and each member is one thread. If the caller's work throws, pieces that were not begun are left out, and
    /// the exception is passed on once no thread is at work any more. The other members' work must not throw.
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

    void begin(Index pieces);  // offers the pieces to all members
    void help(Index member);   // works on pieces while there are any
    void finish();             // withdraws the pieces that were not begun, and waits for the others
    void stop();
    void serve(Index member) noexcept;

    // The offered work: written before the offer, and not changed until all of its pieces are done.
    Call call_ = nullptr;
    void* context_ = nullptr;
    std::uint64_t round_ = 0;
    // On separate cache lines: otherwise reading one would slow down writing the other.
    alignas(64) std::atomic<std::uint64_t> offered_{0};  // high bits: the round; low bits: pieces not begun
    alignas(64) std::atomic<std::int32_t> unfinished_{0};
    alignas(64) std::atomic<std::int32_t> news_{0};  // changes when members should look for work
    std::atomic<bool> stopped_{false};
    std::vector<std::jthread> others_;  // last member, so that the threads end before the data they read
};

}  // namespace engine

#pragma once

// A team of threads for work that is far shorter than the start of a thread.
//
// Work comes in pieces. Each member has its share of them in a queue of its own, and takes from another's queue when
// its own is empty: a thread that has no processor takes none, and the others do not wait for it. As long as all keep
// up, each writes only to its own cache lines, and member m always gets the pieces m, m + size(), m + 2 size(), ..., so
// the data that it reads again are in its cache. That matters where processors are far from each other: then a line of
// another one takes as long to come as a line of memory.
//
// Between two pieces of work a thread spins for some microseconds before it sleeps, so that the products of one pass
// find the team awake, while a team without work costs nothing.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/rows.hpp"

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
        const Call call = [](void* context, Index piece, Index member) {
            (*static_cast<std::remove_reference_t<Work>*>(context))(piece, member);
        };
        begin(pieces, call, const_cast<void*>(static_cast<const void*>(std::addressof(work))));
        const AtEnd finish{*this};
        help(0);
    }

    /// Calls work(first, last, member) for the parts of [0, count), which begin at multiples of `granule`: two for each
    /// member, so that the slowest one is not waited for long, and each part is a long read. A member's parts are
    /// neighbours: where it writes, a processor fetches the next lines, too, and would take them from another.
    template <class Work>
    void share(Index count, Index granule, Work&& work) {
        const Index pieces = size() == 1 ? 1 : 2 * size();
        const auto begin = [&](Index part) {
            return std::min(count, round_up(divide_up(count * part, pieces), granule));
        };
        run(pieces, [&](Index piece, Index member) {
            const Index part = pieces == 1 ? 0 : 2 * (piece % size()) + 1 - piece / size();  // the later piece is first
            if (const Index first = begin(part), last = begin(part + 1); first < last) work(first, last, member);
        });
    }

  private:
    using Call = void (*)(void* context, Index piece, Index member);

    /// What a member is offered and what it has done, each on a cache line of its own.
    struct Member {
        // High bits: the round; low bits: pieces not begun. The work is written before them, and not changed until all
        // pieces of the round are done.
        alignas(64) std::atomic<std::uint64_t> offered{0};
        Call call = nullptr;
        void* context = nullptr;
        alignas(64) std::atomic<std::uint64_t> done{0};  // pieces of any queue, in all rounds
    };

    struct AtEnd {
        Team& team;
        ~AtEnd() { team.finish(); }
    };

    void begin(Index pieces, Call call, void* context);  // offers the pieces
    void help(Index member);                             // works on pieces while there are any
    void finish();  // withdraws the pieces that were not begun, and waits for the others
    std::uint64_t done() const;
    void stop();
    void serve(Index member) noexcept;

    std::vector<Member> members_;
    std::uint64_t round_ = 0;
    std::uint64_t begun_ = 0;  // pieces of all rounds that were not withdrawn
    std::atomic<bool> stopped_{false};
    std::vector<std::jthread> others_;  // last member, so that the threads end before the data they read
};

}  // namespace engine

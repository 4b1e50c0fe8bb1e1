// Every piece of work is done once, by whoever is free, and the caller returns only when all are.
#include "engine/team.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace engine;

TEST_CASE("every piece of work is done once, by one member, before run returns") {
    for (const Index size : {1, 2, 3}) {
        Team team(size);
        REQUIRE(team.size() == size);
        std::atomic<bool> all_alone{true};
        bool all_done = true;
        for (Index round = 0; round < 3000; ++round) {
            const Index pieces = round % 7;
            std::vector<int> runs(static_cast<std::size_t>(pieces), 0);
            std::vector<std::atomic<int>> at_work(static_cast<std::size_t>(size));
            team.run(pieces, [&](Index piece, Index member) {
                auto& mine = at_work[static_cast<std::size_t>(member)];
                if (mine.fetch_add(1) != 0) all_alone = false;
                ++runs[static_cast<std::size_t>(piece)];
                mine.fetch_sub(1);
            });
            for (const int count : runs) all_done = all_done && count == 1;
        }
        CHECK(all_alone);
        CHECK(all_done);
    }
}

TEST_CASE("shared work is done once, in parts that begin at multiples, and a member's parts are neighbours") {
    for (const Index size : {1, 2, 3}) {
        Team team(size);
        for (const Index granule : {1, 16, 100}) {
            for (const Index count : {0, 1, 15, 100, 960}) {
                CAPTURE(size, granule, count);
                std::vector<int> times(static_cast<std::size_t>(count), 0);
                std::atomic<bool> at_multiples{true};
                team.share(count, granule, [&](Index first, Index last, Index) {
                    if (first % granule != 0) at_multiples = false;
                    for (Index i = first; i < last; ++i) ++times[static_cast<std::size_t>(i)];
                });
                CHECK(at_multiples);
                CHECK(std::ranges::count(times, 1) == count);
            }
        }
        // Who has a first or second part waits until all have one, so that nobody takes another's.
        std::vector<std::vector<Index>> firsts(static_cast<std::size_t>(size));
        std::atomic<Index> begun{0};
        team.share(2 * size, 1, [&](Index first, Index, Index member) {
            auto& own = firsts[static_cast<std::size_t>(member)];
            own.push_back(first);
            for (++begun; begun < size * std::ssize(own);) std::this_thread::yield();
        });
        if (size == 1) continue;  // one part
        for (const auto& own : firsts) {
            REQUIRE(own.size() == 2);
            CHECK(std::abs(own[0] - own[1]) == 1);
        }
    }
}

TEST_CASE("the first member is the caller, and nobody waits for one who does not come") {
    Team team(3);
    std::vector<std::thread::id> ids(3);
    std::atomic<Index> begun{0};
    // Each piece waits until all are begun, so that each is done by another.
    team.run(3, [&](Index, Index member) {
        ids[static_cast<std::size_t>(member)] = std::this_thread::get_id();
        for (++begun; begun < 3;) std::this_thread::yield();
    });
    CHECK(ids[0] == std::this_thread::get_id());
    CHECK(ids[1] != ids[0]);
    CHECK(ids[2] != ids[0]);
    CHECK(ids[2] != ids[1]);
    // One is at the first piece for as long as the others are not done.
    std::atomic<Index> done{0};
    team.run(20, [&](Index piece, Index) {
        if (piece == 0)
            while (done < 19) std::this_thread::yield();
        ++done;
    });
    CHECK(done == 20);
}

TEST_CASE("a team that fell asleep wakes up for work") {
    Team team(2);
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::atomic<int> begun{0};
        team.run(2, [&](Index, Index) {
            for (++begun; begun < 2;) std::this_thread::yield();  // both are needed
        });
        CHECK(begun == 2);
    }
}

TEST_CASE("what the caller's piece throws is passed on once nobody is at work any more") {
    Team team(2);
    std::atomic<int> begun{0}, ended{0};
    const auto work = [&](Index, Index member) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
        if (member == 0) throw std::runtime_error("the caller's piece");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++ended;
    };
    CHECK_THROWS_AS(team.run(100, work), std::runtime_error);
    CHECK(ended + 1 == begun);
    CHECK(begun < 100);  // the rest was withdrawn
    std::atomic<int> runs{0};
    team.run(5, [&](Index, Index) { ++runs; });
    CHECK(runs == 5);
}

TEST_CASE("a team has at least one member") {
    CHECK_THROWS_AS(Team(0), std::invalid_argument);
    CHECK_THROWS_AS(Team(-1), std::invalid_argument);
}

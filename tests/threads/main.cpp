// A batch on two threads, under a tool that reports every race. `threads planted` has a race, which must be reported.
#include <cstdio>
#include <latch>
#include <string_view>
#include <thread>

#include "parallel_for.hpp"
#include "threads/requests.hpp"

using namespace requests;

namespace {

/// A parallel_for on two threads: every other request each, begun together.
struct TwoThreads {
    template <class Body>
    void operator()(Index count, const Body& body) const {
        std::latch begin(2);
        const auto work = [&](Index first) {
            begin.arrive_and_wait();
            for (Index i = first; i < count; i += 2) body(i);
        };
        std::thread other(work, 1);
        work(0);
        other.join();
    }
};

/// The number of rounds of a batch that differ from those of its requests alone.
int differences(const std::vector<Case>& cases, BatchWorkspace& memory, const auto& parallel_for) {
    const auto alone = each_alone(cases);
    const auto judge = [&](Index i, Workspace& workspace) {
        return cases[static_cast<std::size_t>(i)].requested(workspace);
    };
    const auto rounds = verify_batch(std::ssize(cases), judge, memory, parallel_for);
    int count = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) count += rounds[i] && same(rounds[i], alone[i].round) ? 0 : 1;
    return count;
}

/// Requests that count their tokens in one number: a race that damages nothing else.
void race(const std::vector<Case>& cases) {
    std::size_t tokens = 0;
    const auto judge = [&](Index i) {
        Workspace workspace;
        tokens += cases[static_cast<std::size_t>(i)].verified(workspace).tokens.size();
    };
    // The tool may not see what threads do that happen to take turns: half of the time with that of clang.
    for (int time = 0; time < 20; ++time) TwoThreads{}(std::ssize(cases), judge);
    std::printf("%zu tokens, or some fewer\n", tokens);
}

}  // namespace

int main(int count, char** words) {
    Chance chance(7);
    if (count > 1 && std::string_view(words[1]) == "planted") {
        race(random_cases(1000, chance));
        return 0;
    }
    BatchWorkspace memory;
    int wrong = 0;
    for (int batch = 0; batch < 50; ++batch) wrong += differences(random_cases(40, chance), memory, TwoThreads{});
    for (int batch = 0; batch < 50; ++batch)
        wrong += differences(random_cases(40, chance), memory, loops::OnThreads{1 + batch % 4});
    std::printf("%d of 4000 rounds differ\n", wrong);
    return wrong == 0 ? 0 : 1;
}

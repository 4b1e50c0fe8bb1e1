// Loops over a batch, as verify_batch takes them: parallel_for(count, body) calls body(i) once for every i below count.
// The rounds are the same by each, for any number of threads.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include <specsample/core/types.hpp>

#ifdef LOOPS_BY_EXECUTION  // GNU's library has it of TBB, which the program must then link
#include <algorithm>
#include <execution>
#include <numeric>
#endif

namespace loops {

/// On threads of its own; an engine with a pool hands its work to the pool instead.
struct OnThreads {
    int threads;

    void operator()(specsample::Index count, const auto& body) const {
        std::atomic<specsample::Index> next = 0;
        const auto work = [&] {
            for (specsample::Index i = next++; i < count; i = next++) body(i);
        };
        std::vector<std::jthread> others;  // joined where they go out of scope
        for (int i = 1; i < threads; ++i) others.emplace_back(work);
        work();
    }
};

#ifdef _OPENMP
struct ByOpenMp {
    void operator()(specsample::Index count, const auto& body) const {
#pragma omp parallel for schedule(dynamic)
        for (specsample::Index i = 0; i < count; ++i) body(i);
    }
};
#endif

#ifdef LOOPS_BY_EXECUTION
struct ByExecution {
    void operator()(specsample::Index count, const auto& body) const {
        std::vector<specsample::Index> all(static_cast<std::size_t>(count));
        std::iota(all.begin(), all.end(), specsample::Index{0});
        std::for_each(std::execution::par, all.begin(), all.end(), body);
    }
};
#endif

}  // namespace loops

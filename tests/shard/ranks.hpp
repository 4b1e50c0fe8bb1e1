// Runs the same code on several ranks, each in a thread of its own, as an engine with a thread per device does.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <specsample/shard.hpp>

namespace ranks {

using specsample::Index;

/// The slice of each rank: the ids [borders[r], borders[r + 1]).
struct Split {
    std::vector<Index> borders;

    Index ranks() const { return std::ssize(borders) - 1; }
    Index first(Index rank) const { return borders[static_cast<std::size_t>(rank)]; }
    Index count(Index rank) const { return first(rank + 1) - first(rank); }

    template <class Row>
    auto slice(const Row& row, Index rank) const {
        return Eigen::Map<const Eigen::Array<typename Row::Scalar, Eigen::Dynamic, 1>>(row.data() + first(rank),
                                                                                       count(rank));
    }
};

/// As equal as can be.
inline Split equal(Index vocab, Index ranks) {
    Split split;
    for (Index rank = 0; rank <= ranks; ++rank) split.borders.push_back(vocab * rank / ranks);
    return split;
}

/// Splits of all kinds: equal ones, slices of no ids, of one id, borders beside those of blocks.
inline std::vector<Split> splits(Index vocab) {
    std::vector<Split> all;
    for (const Index ranks : {1, 2, 3, 4, 7, 8}) all.push_back(equal(vocab, ranks));
    all.push_back({{0, 0, vocab}});
    all.push_back({{0, vocab, vocab, vocab}});
    all.push_back({{0, 1, 1, vocab - 1, vocab}});
    if (vocab > 513) all.push_back({{0, 512, vocab}});
    if (vocab > 513) all.push_back({{0, 511, 513, vocab}});
    if (vocab > 1100) all.push_back({{0, 100, 200, 300, 700, 1030, vocab}});
    return all;
}

/// What every rank returns from run(rank, ranks), or from run(rank, ranks, communicator).
/// @param patience   for how many seconds a rank waits for the others
template <class Run>
auto on_ranks(Index count, const Run& run, double patience = 60) {
    using specsample::shard::Ranks, specsample::shard::Thread;
    constexpr bool takes_communicator = std::is_invocable_v<const Run&, Index, Ranks&, Thread&>;
    const auto call = [&run](Index rank, Ranks& ranks, [[maybe_unused]] Thread& communicator) {
        if constexpr (takes_communicator) {
            return run(rank, ranks, communicator);
        } else {
            return run(rank, ranks);
        }
    };
    using Result = decltype(call(Index{}, std::declval<Ranks&>(), std::declval<Thread&>()));
    specsample::shard::ThreadGroup group(count, patience);
    std::deque<Result> results(static_cast<std::size_t>(count));  // not a vector: one of bools packs them into bits,
                                                                  // which threads cannot write at the same time
    std::vector<std::exception_ptr> thrown(results.size());
    std::vector<std::thread> threads;
    for (Index rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            const auto at = static_cast<std::size_t>(rank);
            try {
                specsample::shard::Thread communicator(group, rank);
                specsample::shard::Ranks ranks(communicator);
                results[at] = call(rank, ranks, communicator);
            } catch (...) {
                thrown[at] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : thrown)
        if (error) std::rethrow_exception(error);
    return std::vector<Result>(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
}

}  // namespace ranks

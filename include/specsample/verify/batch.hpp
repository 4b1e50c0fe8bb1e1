// Batches: many requests in one call, each judged as if it were alone.
//
//   verify_batch   judges them, on the threads that the caller brings
//   Request        the arguments of verify as one value               (batch_request.hpp)
//   slice          the rows of one request among those of all         (batch_memory.hpp)
//   write_padded   the tokens of all requests as one padded matrix    (batch_memory.hpp)
//
// The result of a request depends on its own arguments alone: not on its slot, its neighbours, their number or their
// order, and not on threads. Random draws have addresses, and every slot has a workspace of its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/verify/round.hpp>

namespace specsample {
inline namespace SPECSAMPLE_ABI {

/// The result of one request: its round, or the reason why it has none. A round with an error has no tokens.
struct BatchRound : Round {
    BatchRound() = default;
    BatchRound(const Round& round) : Round(round) {}

    /// The message of what was thrown: by verify for a broken contract, or by the request's own rows.
    std::optional<std::string> error{};

    /// True if the round has neither a fault nor an error.
    explicit operator bool() const { return !fault && !error; }
};

/// The reason why a request has no round; empty if it has one.
[[gnu::cold]] inline std::string message(const BatchRound& round) {
    if (round.error) return *round.error;
    return round.fault ? message(*round.fault) : std::string();
}

/// Memory that batches reuse: a workspace per slot, whichever thread works there. After the first batch of a size, a
/// batch allocates nothing.
struct BatchWorkspace {
    std::vector<Workspace> slots;    ///< one per request
    std::vector<BatchRound> rounds;  ///< one per request: what verify_batch returns
};

namespace detail {

/// Calls body(0), body(1), .. body(count - 1), one after the other.
struct PlainLoop {
    template <class Body>
    void operator()(Index count, const Body& body) const {
        for (Index i = 0; i < count; ++i) body(i);
    }
};
}  // namespace detail

/// Judge a batch of requests, one round each.
///
///     verify_batch(slots, [&](Index i, Workspace& workspace) {
///         return verify(tokens[i], distributions[i], slice(rows, ends[i], ends[i + 1]), rule, rng[i], limits[i],
///                       workspace);
///     }, memory, parallel_for);
///
/// Requests may differ in everything: one may have no drafted tokens, and std::visit may choose a rule for each.
///
/// @param count          requests, >= 0
/// @param judge          judge(i, workspace) -> Round, or BatchRound as a Request returns it. Calls may run on several
///                       threads at once, so what requests share must be safe to read
/// @param memory         holds the returned rounds and their tokens
/// @param parallel_for   parallel_for(count, body) calls body(i) once for every i below count, on any threads and in
///                       any order, and returns when all calls have. The library starts no threads
/// @returns              [count] rounds, valid until the next use of `memory`. A bad request is reported in its own
///                       round: a fault for bad data, an error for what verify or the request's rows throw. Without
///                       exceptions, only a Request reports what verify would throw
/// @throws               std::invalid_argument if count < 0; what parallel_for throws
/// @cost                 the sum over the requests; no allocation once every slot has met its longest request
template <class Judge, class ParallelFor = detail::PlainLoop>
    requires std::invocable<Judge&, Index, Workspace&>
std::span<BatchRound> verify_batch(Index count, Judge&& judge, BatchWorkspace& memory,
                                   ParallelFor&& parallel_for = {}) {
    detail::require(count >= 0, "verify_batch", "count", count, "at least 0");
    const auto size = static_cast<std::size_t>(count);
    if (memory.slots.size() < size) memory.slots.resize(size);
    memory.rounds.assign(size, BatchRound());
    parallel_for(count, [&](Index i) {
        const auto slot = static_cast<std::size_t>(i);
        BatchRound& round = memory.rounds[slot];
#if defined(__cpp_exceptions)
        try {
            round = judge(i, memory.slots[slot]);
        } catch (const std::exception& thrown) {
            round.error = thrown.what();
        }
#else
        round = judge(i, memory.slots[slot]);
#endif
    });
    return memory.rounds;
}

/// Judge a list of requests: anything indexed [i] with a size, whose elements are called with a workspace.
///
///     std::vector<decltype(Request{tokens, distributions, rows, rule, rng, limits})> requests;
///     std::vector<std::function<BatchRound(Workspace&)>> requests;    // of different types
template <class Requests, class ParallelFor = detail::PlainLoop>
    requires requires(Requests& requests, Workspace& workspace) { requests[requests.size()](workspace); }
std::span<BatchRound> verify_batch(Requests&& requests, BatchWorkspace& memory, ParallelFor&& parallel_for = {}) {
    const auto judge = [&](Index i, Workspace& workspace) { return requests[static_cast<std::size_t>(i)](workspace); };
    return verify_batch(static_cast<Index>(requests.size()), judge, memory, std::forward<ParallelFor>(parallel_for));
}

}  // inline namespace
}  // namespace specsample

// Batches: many requests in one call, each judged as if it were alone.
//
//   verify_batch   judges them, on the threads that the caller brings
//   Request        the arguments of verify as one value               (batch_request.hpp)
//   slice          the rows of one request in the list of all rows    (batch_memory.hpp)
//   write_padded   the tokens of all requests as one padded matrix    (batch_memory.hpp)
//
// The result of a request depends on its own arguments alone: not on its slot, its neighbours, their number or their
// order, and not on threads. Random draws are addressed instead of taken from a common stream, and every slot has its
// own workspace.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// Memory that batches reuse: one workspace per slot, whichever thread works on that slot. After the first batch of a
/// size, a batch allocates nothing.
struct BatchWorkspace {
    std::vector<Workspace> slots;  ///< one per request
    std::vector<Round> rounds;     ///< one per request: what verify_batch returns
};

namespace detail {

/// Calls body(0), body(1), .. body(count - 1), one after the other.
struct PlainLoop {
    template <class Body>
    void operator()(Index count, const Body& body) const {
        for (Index i = 0; i < count; ++i) body(i);
    }
};

/// Judge request i. If this throws, return a round with a fault.
template <class Judge>
Round judge_one(Judge& judge, Index i, Workspace& workspace) {
#if defined(__cpp_exceptions)
    try {
        return judge(i, workspace);
    } catch (const std::exception& thrown) {
        const char* const what = thrown.what();
        return what == nullptr ? no_round("the request threw something without a message") : no_round(what, workspace);
    } catch (...) {
        return no_round("the request threw something that is no std::exception");
    }
#else
    return judge(i, workspace);
#endif
}

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
/// @param judge          judge(i, workspace) -> Round. Calls may run on several threads at once, so what requests share
///                       must be safe to read
/// @param memory         holds the returned rounds and their tokens
/// @param parallel_for   parallel_for(count, body) calls body(i) once for every i below count, on any threads and in
///                       any order, and returns when all calls have. The library starts no threads
/// @returns              [count] rounds, valid until the next use of `memory`. A bad request has a fault in its own
///                       round: the bad data, or Cause::broken_contract with a message in round.error if verify or the
///                       request's rows threw anything. Without exceptions, only a Request reports what verify would
///                       throw
/// @throws               std::invalid_argument if count < 0; anything that parallel_for throws
/// @edge                 a request that parallel_for leaves out gets a fault; an i outside [0, count) is refused
/// @cost                 the sum over the requests; no allocation once every slot has met its longest request
template <class Judge, class ParallelFor = detail::PlainLoop>
    requires std::invocable<Judge&, Index, Workspace&>
[[nodiscard]] std::span<Round> verify_batch(Index count, Judge&& judge, BatchWorkspace& memory,
                                            ParallelFor&& parallel_for = {}) {
    constexpr auto where = "verify_batch";
    detail::require(count >= 0, where, "count", count, "at least 0");
    const auto size = static_cast<std::size_t>(count);
    if (memory.slots.size() < size) memory.slots.resize(size);
    memory.rounds.assign(size, detail::no_round("specsample::verify_batch: the request was not judged, but "
                                                "parallel_for(count, body) must call body(i) once for every i below "
                                                "count"));
    parallel_for(count, [&](Index i) {
        if (i < 0 || i >= count) detail::invalid(where, "the i of body(i)", i, "below " + detail::to_text(count));
        const auto slot = static_cast<std::size_t>(i);
        memory.rounds[slot] = detail::judge_one(judge, i, memory.slots[slot]);
    });
    return memory.rounds;
}

/// Judge a list of requests: any type with size() and [i] whose elements can be called with a workspace.
///
///     std::vector<decltype(Request{tokens, distributions, rows, rule, rng, limits})> requests;
///     std::vector<std::function<Round(Workspace&)>> requests;    // of different types
template <class Requests, class ParallelFor = detail::PlainLoop>
    requires requires(Requests& requests, Workspace& workspace) { requests[requests.size()](workspace); }
[[nodiscard]] std::span<Round> verify_batch(Requests&& requests, BatchWorkspace& memory,
                                            ParallelFor&& parallel_for = {}) {
    const auto judge = [&](Index i, Workspace& workspace) { return requests[static_cast<std::size_t>(i)](workspace); };
    return verify_batch(static_cast<Index>(requests.size()), judge, memory, std::forward<ParallelFor>(parallel_for));
}

}}  // namespace specsample

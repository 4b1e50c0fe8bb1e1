// Communicators carry messages between the ranks that share rows. The library depends on no particular one.
//
//   Communicator   the concept: rank(), size(), all_gather(mine, all)
//   Message        the bytes that one rank sends
//   OneRank        a communicator of one rank alone
//
// threads.hpp implements one for the threads of a process; examples/mpi implements one for MPI.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// The bytes that one rank sends to all ranks in one exchange.
using Message = std::vector<std::byte>;

/// A group of ranks that all make the same calls in the same order.
///
///     rank()                 the number of this rank, 0 .. size() - 1
///     size()                 the number of ranks
///     all_gather(mine, all)  writes the message of rank r to all[r], for every r, its own included; all[r] is resized.
///                            The lengths of the messages may differ
///
/// The communicator must report a rank that it cannot reach: all_gather throws or ends the program. The exception
/// passes through every call of the library, and no token of that round is committed.
template <class C>
concept Communicator = requires(C& communicator, std::span<const std::byte> mine, std::span<Message> all) {
    { communicator.rank() } -> std::convertible_to<Index>;
    { communicator.size() } -> std::convertible_to<Index>;
    communicator.all_gather(mine, all);
};

/// A single rank, which holds every row whole and sends nothing.
struct OneRank {
    static constexpr Index rank() { return 0; }
    static constexpr Index size() { return 1; }
    static void all_gather(std::span<const std::byte> mine, std::span<Message> all) {
        all[0].assign(mine.begin(), mine.end());
    }
};

}}}  // namespace specsample::shard

// Communicators carry messages between the ranks that share rows. The library depends on no particular one.
//
//   Communicator   the concept: rank(), size(), all_gather(mine, all)
//   Message        the bytes that one rank sends, written and read number by number
//   OneRank        a communicator of one rank alone
//
// threads.hpp implements one for the threads of a process; examples/mpi implements one for MPI.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

namespace shard {

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

}  // namespace shard

namespace shard::detail {

/// Appends numbers to a message.
class Writer {
  public:
    explicit Writer(Message& message) : message_(message) { message_.clear(); }

    template <class T>
        requires std::is_trivially_copyable_v<T>
    void put(const T& value) {
        put_bytes(std::as_bytes(std::span(&value, 1)));
    }
    void put_bytes(std::span<const std::byte> bytes) { message_.insert(message_.end(), bytes.begin(), bytes.end()); }

  private:
    Message& message_;
};

/// Takes numbers from a message in the order in which they were put. Numbers beyond the end of the message are zeros:
/// only a rank whose header differs sends too little, and the comparison of headers reports that.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> message) : rest_(message) {}

    template <class T>
        requires std::is_trivially_copyable_v<T>
    T take() {
        T value{};
        take_bytes(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    void take_bytes(std::span<std::byte> bytes) {
        if (bytes.empty() || rest_.size() < bytes.size()) return;
        std::memcpy(bytes.data(), rest_.data(), bytes.size());
        rest_ = rest_.subspan(bytes.size());
    }

  private:
    std::span<const std::byte> rest_;
};

}  // namespace shard::detail

}}  // namespace specsample

// A shard::Communicator whose ranks are processes of MPI.
//
//     MPI_Init(&argc, &argv);
//     MpiRanks mpi(MPI_COMM_WORLD);
//     specsample::shard::Ranks ranks(mpi);
//
// A rank that dies ends the program on every rank: mpirun kills the others. So does an error inside MPI, by its default
// error handler. An engine that sets MPI_ERRORS_RETURN on the communicator gets std::runtime_error with MPI's text for
// it, through whatever call of the library made the exchange; no token of that round is committed. MPI promises nothing
// about calls after an error, so such an engine can say what happened and save its texts, and must then end.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <specsample/shard.hpp>

class MpiRanks {
  public:
    /// @param group   borrowed; an MPI_Comm_dup of its own if other threads use it at the same time
    /// @throws        std::runtime_error with MPI's text
    explicit MpiRanks(MPI_Comm group) : group_(group) {
        int size = 0;
        check(MPI_Comm_rank(group_, &rank_));
        check(MPI_Comm_size(group_, &size));
        lengths_.resize(static_cast<std::size_t>(size));
        begins_.resize(lengths_.size());
    }

    specsample::Index rank() const { return rank_; }
    specsample::Index size() const { return std::ssize(lengths_); }

    /// Write the message of every rank to `all`.
    /// @throws   std::runtime_error with MPI's text; on every rank if the messages have more bytes than an int counts
    void all_gather(std::span<const std::byte> mine, std::span<specsample::shard::Message> all) {
        // Clamped, so that a length that no int holds reaches the others, who refuse it as well.
        const int length = static_cast<int>(std::min(mine.size(), static_cast<std::size_t>(most_bytes)));
        check(MPI_Allgather(&length, 1, MPI_INT, lengths_.data(), 1, MPI_INT, group_));
        lay_out();
        check(MPI_Allgatherv(mine.data(), length, MPI_BYTE, received_.data(), lengths_.data(), begins_.data(), MPI_BYTE,
                             group_));
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const std::byte* const begin = received_.data() + begins_[rank];
            all[rank].assign(begin, begin + lengths_[rank]);
        }
    }

  private:
    static constexpr int most_bytes = std::numeric_limits<int>::max();

    /// Place the messages one after the other. All ranks have the same lengths: all throw, or none.
    void lay_out() {
        std::int64_t end = 0;
        for (std::size_t rank = 0; rank < lengths_.size(); ++rank) {
            begins_[rank] = static_cast<int>(end);
            end += lengths_[rank];
            if (end >= most_bytes) throw std::runtime_error("MpiRanks: an exchange of 2 GiB or more");
        }
        if (received_.size() < static_cast<std::size_t>(end)) received_.resize(static_cast<std::size_t>(end));
    }

    static void check(int error) {
        if (error == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(error, text, &length);
        throw std::runtime_error("MpiRanks: " + std::string(text, static_cast<std::size_t>(length)));
    }

    MPI_Comm group_;
    int rank_ = 0;
    std::vector<int> lengths_;  ///< of the messages, by rank
    std::vector<int> begins_;   ///< where they begin in received_
    std::vector<std::byte> received_;
};

// A communicator for the threads of one process: one thread per rank, for engines with a thread per device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/shard/communicator.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace shard {

/// The state that the threads of a group share. Each thread makes its own Thread from it.
class ThreadGroup {
  public:
    /// @param size       the number of ranks, >= 1
    /// @param patience   how many seconds a rank waits for the other ranks in one exchange
    /// @throws           std::invalid_argument if size < 1
    explicit ThreadGroup(Index size, double patience = 300)
        : sent_(static_cast<std::size_t>(size < 1 ? 0 : size)), patience_(patience) {
        specsample::detail::require(size >= 1, "ThreadGroup", "size", size, "at least 1");
    }

    Index size() const { return static_cast<Index>(sent_.size()); }

    /// Write the message of every rank to `all`. Returns when every rank has all messages.
    /// @throws   std::runtime_error if another rank does not come within the patience. From then on every call throws,
    ///           on every rank, for as long as the group exists
    void all_gather(Index rank, std::span<const std::byte> mine, std::span<Message> all) {
        sent_[static_cast<std::size_t>(rank)] = mine;
        wait();
        for (std::size_t other = 0; other < sent_.size(); ++other)
            all[other].assign(sent_[other].begin(), sent_[other].end());
        wait();
    }

  private:
    /// Wait until all ranks have called this function.
    void wait() {
        std::unique_lock lock(mutex_);
        const std::size_t turn = turn_;
        if (!is_broken_ && ++arrived_ == sent_.size()) {
            arrived_ = 0;
            ++turn_;
            all_are_here_.notify_all();
            return;
        }
        all_are_here_.wait_for(lock, patience_, [&] { return turn_ != turn || is_broken_; });
        if (turn_ != turn) return;
        is_broken_ = true;
        all_are_here_.notify_all();
        specsample::detail::raise(std::runtime_error("specsample::ThreadGroup: a rank did not come to an exchange"));
    }

    std::vector<std::span<const std::byte>> sent_;
    std::chrono::duration<double> patience_;
    std::mutex mutex_;
    std::condition_variable all_are_here_;
    std::size_t arrived_ = 0;
    std::size_t turn_ = 0;
    bool is_broken_ = false;
};

/// One rank of a group: a Communicator.
class Thread {
  public:
    /// @param group   borrowed
    /// @throws        std::invalid_argument if `rank` is not in [0, group.size())
    Thread(ThreadGroup& group, Index rank) : group_(group), rank_(rank) {
        specsample::detail::require(rank >= 0 && rank < group.size(), "Thread", "rank", rank,
                                    "at least 0 and below the group's size");
    }

    Index rank() const { return rank_; }
    Index size() const { return group_.size(); }
    void all_gather(std::span<const std::byte> mine, std::span<Message> all) { group_.all_gather(rank_, mine, all); }

  private:
    ThreadGroup& group_;
    Index rank_;
};

}}}  // namespace specsample::shard

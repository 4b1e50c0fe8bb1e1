#include "engine/team.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than one thread works alone between two products, too short to matter.
constexpr auto patience = std::chrono::microseconds(100);
constexpr int looks_per_yield = 256;

constexpr int piece_bits = 32;
constexpr std::uint64_t piece_mask = (std::uint64_t{1} << piece_bits) - 1;

/// Returns once `value` differs from `old`: spins at first, then sleeps.
void await_change(const std::atomic<std::int32_t>& value, std::int32_t old) {
    for (const auto start = Clock::now(); Clock::now() - start < patience; std::this_thread::yield()) {
        for (int look = 0; look < looks_per_yield; ++look) {
            if (value.load(std::memory_order_acquire) != old) return;
        }
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(Index threads) {
    if (threads < 1) {
        throw std::invalid_argument("Team: threads is " + std::to_string(threads) + ", but must be at least 1");
    }
    try {
        for (Index member = 1; member < threads; ++member) others_.emplace_back([this, member] { serve(member); });
    } catch (...) {
        stop();
        throw;
    }
}

Team::~Team() { stop(); }

void Team::begin(Index pieces) {
    unfinished_.store(static_cast<std::int32_t>(pieces), std::memory_order_relaxed);
    offered_.store(++round_ << piece_bits | static_cast<std::uint64_t>(pieces), std::memory_order_release);
    news_.fetch_add(1, std::memory_order_release);
    news_.notify_all();
}

void Team::help(Index member) {
    struct Done {
        std::atomic<std::int32_t>& unfinished;
        ~Done() {
            if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished.notify_one();
        }
    };
    // A piece is taken by decrementing the count. The round is part of the same number, so that no thread takes a piece
    // of a round that is over.
    for (auto offered = offered_.load(std::memory_order_acquire); (offered & piece_mask) != 0;) {
        if (!offered_.compare_exchange_weak(offered, offered - 1, std::memory_order_acquire)) continue;
        const Done done{unfinished_};
        call_(context_, static_cast<Index>((offered & piece_mask) - 1), member);
        offered = offered_.load(std::memory_order_acquire);
    }
}

void Team::finish() {
    const auto withdrawn = offered_.exchange(round_ << piece_bits, std::memory_order_acquire) & piece_mask;
    unfinished_.fetch_sub(static_cast<std::int32_t>(withdrawn), std::memory_order_relaxed);
    for (auto left = unfinished_.load(std::memory_order_acquire); left != 0;
         left = unfinished_.load(std::memory_order_acquire)) {
        await_change(unfinished_, left);
    }
}

void Team::stop() {
    stopped_.store(true, std::memory_order_relaxed);
    news_.fetch_add(1, std::memory_order_release);
    news_.notify_all();
}

void Team::serve(Index member) noexcept {
    for (;;) {
        const auto heard = news_.load(std::memory_order_acquire);
        if (stopped_.load(std::memory_order_relaxed)) return;
        help(member);
        await_change(news_, heard);
    }
}

}  // namespace engine

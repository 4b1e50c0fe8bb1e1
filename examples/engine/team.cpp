#include "engine/team.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than one thread works alone between two products, too short to matter.
constexpr auto patience = std::chrono::microseconds(100);
constexpr int looks_per_yield = 4096;  // some microseconds: a thread that yields is slow to see what it waits for

constexpr int piece_bits = 32;
constexpr std::uint64_t piece_mask = (std::uint64_t{1} << piece_bits) - 1;

/// Looks at something some thousand times. Returns whether it was so.
template <class Condition>
bool look(Condition&& is_so) {
    for (int look = 0; look < looks_per_yield; ++look)
        if (is_so()) return true;
    return false;
}

/// Returns once `value` differs from `old`: spins at first, then sleeps.
void await_change(const std::atomic<std::uint64_t>& value, std::uint64_t old) {
    for (const auto start = Clock::now(); Clock::now() - start < patience; std::this_thread::yield())
        if (look([&] { return value.load(std::memory_order_acquire) != old; })) return;
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(Index threads) : members_(static_cast<std::size_t>(std::max<Index>(threads, 0))) {
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

void Team::begin(Index pieces, Call call, void* context) {
    ++round_;
    begun_ += static_cast<std::uint64_t>(pieces);
    for (Index member = size() - 1; member >= 0; --member) {
        Member& to = members_[static_cast<std::size_t>(member)];
        to.call = call;
        to.context = context;
        const Index share = (pieces - member + size() - 1) / size();  // 0 if there are fewer pieces
        to.offered.store(round_ << piece_bits | static_cast<std::uint64_t>(share), std::memory_order_release);
        if (member > 0) to.offered.notify_one();
    }
}

void Team::help(Index member) {
    struct Done {
        std::atomic<std::uint64_t>& pieces;
        ~Done() { pieces.store(pieces.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    };
    for (Index i = 0; i < size(); ++i) {
        const Index owner = (member + i) % size();
        Member& of = members_[static_cast<std::size_t>(owner)];
        // A piece is taken by decrementing the count. The round is part of the same number, so that no thread takes a
        // piece of a round that is over.
        for (auto offered = of.offered.load(std::memory_order_acquire); (offered & piece_mask) != 0;) {
            if (!of.offered.compare_exchange_weak(offered, offered - 1, std::memory_order_acquire)) continue;
            const Done done{members_[static_cast<std::size_t>(member)].done};
            of.call(of.context, owner + static_cast<Index>((--offered & piece_mask)) * size(), member);
            offered = of.offered.load(std::memory_order_acquire);
        }
    }
}

std::uint64_t Team::done() const {
    std::uint64_t sum = 0;
    for (const Member& member : members_) sum += member.done.load(std::memory_order_acquire);
    return sum;
}

void Team::finish() {
    for (Member& member : members_) {
        if ((member.offered.load(std::memory_order_relaxed) & piece_mask) == 0) continue;
        begun_ -= member.offered.exchange(round_ << piece_bits, std::memory_order_acquire) & piece_mask;
    }
    while (!look([&] { return done() == begun_; })) std::this_thread::yield();
}

void Team::stop() {
    stopped_.store(true, std::memory_order_relaxed);
    ++round_;
    for (Member& member : members_) {
        member.offered.store(round_ << piece_bits, std::memory_order_release);
        member.offered.notify_one();
    }
}

void Team::serve(Index member) noexcept {
    const auto& offered = members_[static_cast<std::size_t>(member)].offered;
    for (;;) {
        const auto heard = offered.load(std::memory_order_acquire);
        if (stopped_.load(std::memory_order_relaxed)) return;
        if ((heard & piece_mask) == 0)
            await_change(offered, heard);
        else
            help(member);
    }
}

}  // namespace engine

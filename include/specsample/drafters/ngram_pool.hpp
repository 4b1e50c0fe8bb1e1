// A pool of n-grams, and a drafter that proposes the n-grams that begin with the text's last token.
//
// Fu et al.: "Break the sequential dependency of LLM inference using lookahead decoding", ICML 2024 (arXiv:2402.02057),
// section 3.2: n-grams of Jacobi trajectories are collected, and verified together.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/drafters/drafter.hpp>
#include <specsample/drafters/named.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The latest n-grams, grouped by their first token. If a group is full, a new n-gram replaces the n-gram of the group
/// that was added longest ago.
///
///     NgramPool pool(5, 8);
///     Sampler sampler(PoolDrafter(pool), target, {.lookahead = 4}, TraversalVerification{});
///     pool.add(trajectory);   // between two rounds
///
/// @cost   O(length * capacity) per token added. Memory: at most 4 * length * capacity bytes per distinct first token
class NgramPool {
  public:
    /// @param length     tokens of an n-gram, the first one included
    /// @param capacity   largest number of n-grams with the same first token
    /// @throws           std::invalid_argument if length < 2, capacity < 1, or either is above most_drafted
    NgramPool(Index length, Index capacity) : length_(length), capacity_(capacity) {
        detail::require_length("NgramPool", "length", length, 2);
        detail::require_length("NgramPool", "capacity", capacity, 1);
    }

    /// Add every n-gram of a text, first to last. A text of `length` tokens is one n-gram; a shorter text has none.
    void add(std::span<const Token> text) {
        detail::require_memory("NgramPool", "text", text);
        for (; std::ssize(text) >= length_; text = text.subspan(1))
            add_tail(tails_[text.front()], text.subspan(1, static_cast<std::size_t>(length_ - 1)));
    }

    /// Call f(tail) for each n-gram that begins with `first`, the latest first; `tail` is the n-gram without `first`.
    template <class F>
    void for_tails(Token first, F&& f) const {
        const auto found = tails_.find(first);
        if (found == tails_.end()) return;
        const auto step = static_cast<std::size_t>(length_ - 1);
        for (std::span<const Token> rest = found->second; !rest.empty(); rest = rest.subspan(step)) f(rest.first(step));
    }

  private:
    /// Move a tail to the front. A new tail is first put after the others, or replaces the last tail if there is no
    /// room.
    void add_tail(std::vector<Token>& tails, std::span<const Token> tail) const {
        const Index step = std::ssize(tail), end = std::ssize(tails);
        Index at = 0;
        while (at < end && !std::equal(tail.begin(), tail.end(), tails.begin() + at)) at += step;
        if (at == capacity_ * step) at -= step;
        if (at == end) tails.resize(static_cast<std::size_t>(end + step));
        std::copy_backward(tails.begin(), tails.begin() + at, tails.begin() + at + step);
        std::ranges::copy(tail, tails.begin());
    }

    Index length_;
    Index capacity_;
    std::unordered_map<Token, std::vector<Token>> tails_;  // by first token: tails one after another, latest first
};

/// Proposes all n-grams of a pool that begin with the last token of the prefix, as one tree in which n-grams that begin
/// alike share nodes. No token is drawn, so all are point masses, and the output distribution is the target's whatever
/// the pool holds.
///
/// @draws   none
/// @cost    O(nodes) per token of an n-gram
class PoolDrafter {
  public:
    using Distribution = PointMass;

    /// @param pool   borrowed: the caller adds to it, and it must outlive the drafter
    explicit PoolDrafter(const NgramPool& pool) : pool_(&pool) {}
    explicit PoolDrafter(const NgramPool&&) = delete;

    template <class Source, class L>
        requires std::convertible_to<PointMass, L>
    void propose(std::span<const Token> prefix, const Source&, DraftTree<L>& draft_tree) {
        if (prefix.empty()) return;
        const Index first = draft_tree.size();
        pool_->for_tails(prefix.back(),
                         [&](std::span<const Token> tail) { detail::add_named_path(draft_tree, first, tail); });
    }

  private:
    const NgramPool* pool_;
};

}}  // namespace specsample

// How often each token occurs in a part of a context, kept from context to context: the rows of one round, and of the
// next, have nearly the same one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Counts of tokens in a table with open addressing.
class TokenCounts {
  public:
    /// Count the tokens of a text.
    /// @cost   a comparison with the text before, and O(1) for each token that only one of the two has after the tokens
    ///         that they begin with; the memory of the distinct tokens, at least 16 bytes each
    void count(std::span<const Token> text) {
        if (std::exchange(is_listed_, false)) clear();
        const std::size_t common = shared_with(text);
        for (std::size_t i = common; i < text_.size(); ++i)
            if (text_[i] >= 0) --slots_[slot_of(text_[i])].count;
        text_.resize(common);
        if (text_.capacity() < text.size()) text_.reserve(2 * text.size());
        for (const Token token : text.subspan(common)) {
            if (token >= 0) ++entry_of(token).count;  // this may throw, what follows may not
            text_.push_back(token);
        }
    }

    /// Take a count for each of some tokens, instead of the counts of a text; of several of a token the largest.
    /// @param list   list(add) calls add(token, count)
    void take(const auto& list) {
        clear();
        is_listed_ = true;
        list([&](Token token, Index count) {
            if (token < 0) return;
            Entry& entry = entry_of(token);
            entry.count = std::max(entry.count, static_cast<std::uint32_t>(count));
        });
    }

    /// Return how often the text has a token.
    Index operator[](Token token) const {
        return slots_.empty() ? 0 : static_cast<Index>(slots_[slot_of(token)].count);
    }

    /// Call f(token, count) for every token >= 0 of the text, in any order.
    template <class F>
    void for_each(const F& f) const {
        for (const Entry& entry : slots_)
            if (entry.count > 0) f(entry.token, static_cast<Index>(entry.count));
    }

  private:
    void clear() {
        text_.clear();
        for (Entry& entry : slots_) entry.count = 0;
    }

    struct Entry {
        Token token = -1;  ///< whose slot this is, or -1; its count may have come back to 0
        std::uint32_t count = 0;
    };

    /// Return the number of tokens with which both texts begin. Texts that grow are compared as memory.
    std::size_t shared_with(std::span<const Token> text) const {
        const std::size_t shorter = std::min(text_.size(), text.size());
        const Token *begin = text_.data(), *end = begin + shorter;
        if (std::equal(begin, end, text.data())) return shorter;
        return static_cast<std::size_t>(std::mismatch(begin, end, text.data()).first - begin);
    }

    /// Return the slot of a token: the one that has it, or the empty one where it belongs.
    std::size_t slot_of(Token token) const {
        std::size_t slot = static_cast<std::uint32_t>(token) * std::size_t{0x9e37'79b9} >> 8;
        while (slots_[slot &= slots_.size() - 1].token != token && slots_[slot].token >= 0) ++slot;
        return slot;
    }

    Entry& entry_of(Token token) {
        if (2 * (used_ + 1) > slots_.size()) make_room();
        Entry& entry = slots_[slot_of(token)];
        if (entry.token < 0) entry.token = token, ++used_;
        return entry;
    }

    /// Give every token that is counted a slot in a table that is at most a quarter full.
    void make_room() {
        std::size_t live = 0, size = 64;
        for_each([&](Token, Index) { ++live; });
        while (size < 4 * (live + 1)) size *= 2;
        for (const Entry& entry : std::exchange(slots_, std::vector<Entry>(size)))
            if (entry.count > 0) slots_[slot_of(entry.token)] = entry;
        used_ = live;
    }

    std::vector<Token> text_;
    std::vector<Entry> slots_;  ///< a power of two of them, at most half of them with a token
    std::size_t used_ = 0;
    bool is_listed_ = false;  ///< whether the counts are no text's
};

/// The counts that the penalties of a pipeline have of their windows, in the order of the pipeline. From row to row a
/// penalty finds the counts that it had before.
class WindowCounts {
  public:
    /// Begin with a row.
    void begin() { next_ = 0; }

    /// Count the tokens of the next penalty's window.
    /// @returns   the place of the counts
    std::size_t count(std::span<const Token> window) {
        const std::size_t place = next();
        counts_[place].count(window);
        return place;
    }

    /// Take counts as the next penalty's.
    /// @returns   the place of the counts
    std::size_t take(const auto& list) {
        const std::size_t place = next();
        counts_[place].take(list);
        return place;
    }

    const TokenCounts& operator[](std::size_t place) const { return counts_[place]; }

  private:
    /// Return the place of the next penalty's counts.
    std::size_t next() {
        if (next_ == counts_.size()) counts_.emplace_back();
        return next_++;
    }

    std::vector<TokenCounts> counts_;
    std::size_t next_ = 0;
};

}}}  // namespace specsample::detail

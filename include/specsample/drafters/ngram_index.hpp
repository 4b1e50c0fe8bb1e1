// A growing text, and where each of its n-grams occurred before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/lengths.hpp>
#include <specsample/core/types.hpp>

namespace specsample {

namespace detail {

/// The longest end of a text that occurred before, where it did so last.
struct NgramMatch {
    Index length = 0;  ///< its tokens; 0: no end of the text occurred before
    Index end = 0;     ///< where its latest earlier occurrence ends: the token that followed is text[end]
};
}  // namespace detail

namespace detail {

constexpr std::uint64_t ngram_hash(std::span<const Token> ngram) {
    std::uint64_t hash = 0;
    for (const Token token : ngram) {
        hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace detail

namespace detail {

/// Finds the longest end of a text, of min_match to max_match tokens, that occurred before.
///
///     NgramIndex index(1, 3);
///     for (const Token token : text) index.push_back(token);
///     if (const NgramMatch match = index.longest_match(); match.length > 0) next = index.text()[match.end];
///
/// For each length there is a table of the different n-grams, known by where they ended last, and every token remembers
/// where its n-gram had ended before: that is the answer, and what an undo puts back. Entries leave a table in the
/// reverse order in which they came, so that none is ever in the way of another's search.
///
/// A match is one of tokens, never of hashes alone. An n-gram that finds `longest_search` others on its way into a
/// table stays out of it, and is not found: only a text that is made for it has such.
///
/// @cost   a token, written or removed: a search in each table, of O(max_match) tokens each. A table that is full is
///         made anew, so the time per written token is amortised. Memory: 4 bytes per token, 4 more for each length,
///         and 8 to 16 for each different n-gram
class NgramIndex {
  public:
    static constexpr std::size_t longest_search = 256;

    /// @throws std::invalid_argument unless 1 <= min_match <= max_match <= most_drafted
    NgramIndex(Index min_match, Index max_match) : min_match_(min_match) {
        detail::require(min_match >= 1, "NgramIndex", "min_match", min_match, "at least 1");
        if (max_match < min_match)
            detail::invalid("NgramIndex", "max_match", max_match, "at least min_match, " + detail::to_text(min_match));
        detail::require_length("NgramIndex", "max_match", max_match, 1);
        tables_.resize(static_cast<std::size_t>(max_match - min_match + 1));
    }

    std::span<const Token> text() const { return text_; }
    Index size() const { return std::ssize(text_); }

    /// Write a token behind the text. Where memory runs out, the text is as before.
    /// @throws std::invalid_argument for a text of 2^31 tokens
    void push_back(Token token) {
        detail::require(size() < std::numeric_limits<TextEnd>::max(), "NgramIndex", "the text", size() + 1,
                        "shorter than 2^31 tokens");
        for (std::size_t i = 0; i < tables_.size(); ++i)
            if (2 * (tables_[i].used + 1) > tables_[i].slots.size()) grow(i);
        previous_.resize((text_.size() + 1) * tables_.size());
        text_.push_back(token);
        for (std::size_t i = 0; i < tables_.size(); ++i) enter(i, size());
    }

    /// Undo what was written behind the first `length` tokens.
    /// @throws std::invalid_argument if length is negative or more than there are
    void truncate(Index length) {
        if (length < 0 || length > size())
            detail::invalid("NgramIndex", "length", length,
                            "0 to the " + detail::to_text(size()) + " tokens there are");
        while (size() > length) {
            for (std::size_t i = 0; i < tables_.size(); ++i) leave(i, size());
            text_.pop_back();
        }
        previous_.resize(text_.size() * tables_.size());
    }

    /// @cost   O(max_match - min_match + 1)
    NgramMatch longest_match() const {
        if (text_.empty()) return {};
        for (std::size_t i = tables_.size(); i-- > 0;)
            if (const TextEnd end = previous_[place(i, size())]; end > 0) return {length_of(i), end};
        return {};
    }

  private:
    using TextEnd = std::int32_t;  ///< where an n-gram ends in the text; 0 is nowhere

    /// The last ends of all n-grams of one length: open addressing, at most half full.
    struct Table {
        std::vector<TextEnd> slots;
        std::size_t used = 0;
    };

    Index length_of(std::size_t i) const { return min_match_ + static_cast<Index>(i); }

    std::size_t place(std::size_t i, Index end) const { return static_cast<std::size_t>(end - 1) * tables_.size() + i; }

    std::span<const Token> ngram(std::size_t i, Index end) const {
        return text().subspan(static_cast<std::size_t>(end - length_of(i)), static_cast<std::size_t>(length_of(i)));
    }

    /// The slot of the n-gram that ends at `end`, or the empty one that it may have; nullptr if the search is too long.
    TextEnd* find(std::size_t i, Index end) {
        std::vector<TextEnd>& slots = tables_[i].slots;
        const std::span<const Token> sought = ngram(i, end);
        const std::uint64_t home = detail::ngram_hash(sought);
        for (std::size_t step = 0; step < std::min(longest_search, slots.size()); ++step) {
            TextEnd& slot = slots[(home + step) & (slots.size() - 1)];
            if (slot == 0 || std::ranges::equal(ngram(i, slot), sought)) return &slot;
        }
        return nullptr;
    }

    /// The n-gram that ends at `end` is the last of its kind; remember which one was.
    void enter(std::size_t i, Index end) {
        if (end < length_of(i)) return;
        if (TextEnd* const last = find(i, end)) {
            if (*last == 0) ++tables_[i].used;
            previous_[place(i, end)] = std::exchange(*last, static_cast<TextEnd>(end));
        }
    }

    /// Undo it: all that entered later has left, so the search ends where it did then.
    void leave(std::size_t i, Index end) {
        if (end < length_of(i)) return;
        if (TextEnd* const last = find(i, end)) {
            *last = previous_[place(i, end)];
            if (*last == 0) --tables_[i].used;
        }
    }

    /// Twice the slots. All enter again in the order of the text: it is the reverse of theirs that lets them leave.
    void grow(std::size_t i) {
        tables_[i] = {std::vector<TextEnd>(std::max<std::size_t>(16, 2 * tables_[i].slots.size())), 0};
        for (Index end = 1; end <= size(); ++end) enter(i, end);
    }

    Index min_match_;
    std::vector<Token> text_;
    std::vector<Table> tables_;      // by length
    std::vector<TextEnd> previous_;  // by place: where the n-gram that ends there had ended before
};
}  // namespace detail

}  // namespace specsample

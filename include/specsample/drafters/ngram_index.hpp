// A growing text, and an index of the latest earlier occurrences of its n-grams.
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
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The longest suffix of a text that occurred before, at its latest earlier occurrence.
struct NgramMatch {
    Index length = 0;  ///< in tokens; 0 if no suffix of the text occurred before
    Index end = 0;     ///< end of that occurrence: the token that followed it is text[end]
};

constexpr std::uint64_t ngram_hash(std::span<const Token> ngram) {
    std::uint64_t hash = 0;
    for (const Token token : ngram) {
        hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio
        hash ^= hash >> 32;
    }
    return hash;
}

/// Finds the longest suffix of a text, of min_match to max_match tokens, that occurred before.
///
///     NgramIndex index(1, 3);
///     for (const Token token : text) index.push_back(token);
///     if (const NgramMatch match = index.longest_match(); match.length > 0) next = index.text()[match.end];
///
/// For each length, a hash table holds the end of the latest occurrence of every distinct n-gram. Each token stores the
/// end of the previous occurrence of the n-gram that ends with it: longest_match returns this end, and truncate puts it
/// back into the table. Entries are removed in the reverse of the order in which they were added, so removing one never
/// breaks the search for another.
///
/// A match compares tokens, not only hashes. An n-gram whose search meets `longest_search` other n-grams stays out of
/// the table and is not found. Only a text that was made to cause this has such n-grams.
///
/// @cost   per token written or removed, one search in each table, of O(max_match) tokens each; a full table is built
///         anew, so the time per written token is amortised. Memory: 4 bytes per token, 4 more for each length, and 8
///         to 16 for each distinct n-gram
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

    /// Append a token. If memory runs out, the text stays as it was.
    /// @throws   std::invalid_argument for a text of 2^31 tokens
    void push_back(Token token) {
        detail::require(size() < std::numeric_limits<TextEnd>::max(), "NgramIndex", "the text", size() + 1,
                        "shorter than 2^31 tokens");
        for (std::size_t i = 0; i < tables_.size(); ++i)
            if (2 * (tables_[i].used + 1) > tables_[i].slots.size()) grow(i);
        previous_.resize((text_.size() + 1) * tables_.size());
        text_.push_back(token);
        for (std::size_t i = 0; i < tables_.size(); ++i) enter(i, size());
    }

    /// Make room for as many more tokens: until then push_back allocates nothing.
    void make_room(std::size_t tokens) {
        text_.reserve(text_.size() + tokens);
        previous_.reserve((text_.size() + tokens) * tables_.size());
        for (std::size_t i = 0; i < tables_.size(); ++i)
            while (2 * (tables_[i].used + tokens) > tables_[i].slots.size()) grow(i);
    }

    /// Remove all tokens after the first `length`.
    /// @throws   std::invalid_argument unless length is 0 to size()
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

    /// Return the longest suffix of the text that occurred before.
    /// @cost   O(max_match - min_match + 1)
    NgramMatch longest_match() const {
        if (text_.empty()) return {};
        for (std::size_t i = tables_.size(); i-- > 0;)
            if (const TextEnd end = previous_[place(i, size())]; end > 0) return {length_of(i), end};
        return {};
    }

  private:
    using TextEnd = std::int32_t;  ///< end of an n-gram in the text; 0 for none

    /// The latest ends of all n-grams of one length: open addressing, at most half full.
    struct Table {
        std::vector<TextEnd> slots;
        std::size_t used = 0;
    };

    Index length_of(std::size_t i) const { return min_match_ + static_cast<Index>(i); }

    std::size_t place(std::size_t i, Index end) const { return static_cast<std::size_t>(end - 1) * tables_.size() + i; }

    std::span<const Token> ngram(std::size_t i, Index end) const {
        return text().subspan(static_cast<std::size_t>(end - length_of(i)), static_cast<std::size_t>(length_of(i)));
    }

    /// Find the slot of the n-gram that ends at `end`, or an empty slot for it; nullptr if the search is too long.
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

    /// Make `end` the latest occurrence of its n-gram, and store the previous occurrence.
    void enter(std::size_t i, Index end) {
        if (end < length_of(i)) return;
        if (TextEnd* const last = find(i, end)) {
            if (*last == 0) ++tables_[i].used;
            previous_[place(i, end)] = std::exchange(*last, static_cast<TextEnd>(end));
        }
    }

    /// Undo enter(i, end). All later entries have been removed, so the search ends at the same slot.
    void leave(std::size_t i, Index end) {
        if (end < length_of(i)) return;
        if (TextEnd* const last = find(i, end)) {
            *last = previous_[place(i, end)];
            if (*last == 0) --tables_[i].used;
        }
    }

    /// Double the slots. All entries are added again in the order of the text, so that they can be removed in the
    /// reverse order.
    void grow(std::size_t i) {
        tables_[i] = {std::vector<TextEnd>(std::max<std::size_t>(16, 2 * tables_[i].slots.size())), 0};
        for (Index end = 1; end <= size(); ++end) enter(i, end);
    }

    Index min_match_;
    std::vector<Token> text_;
    std::vector<Table> tables_;      // one per length
    std::vector<TextEnd> previous_;  // by place: the end of that n-gram's previous occurrence
};

}  // namespace detail

}}  // namespace specsample

// A bit mask of tokens, in words of 32 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specsample/core/bits.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// A bit mask: bit i % 32 of word i / 32 is set where token i is allowed. Ids beyond the words are forbidden.
class MaskBits {
  public:
    static constexpr Index width = 32;

    MaskBits(std::span<const std::uint32_t> words, Index vocab) : words_(words), vocab_(vocab) {}

    bool allows(Index id) const { return (allowed_in(id / width) >> (id % width) & 1) != 0; }

    /// Return the number of ids that are allowed.
    Index count() const {
        Index count = 0, word = 0;
        for (; word + 1 < whole_words(); word += 2)
            count += bit_count(std::uint64_t{words_[at(word)]} << width | words_[at(word + 1)]);
        for (; word < word_count(); ++word) count += bit_count(allowed_in(word));
        return count;
    }

    /// Forbid in `allowed`, the words of another mask, what this mask forbids.
    void forbid_in(std::vector<std::uint32_t>& allowed) const {
        for (Index word = 0; word < whole_words(); ++word) allowed[at(word)] &= words_[at(word)];
        for (Index word = whole_words(); word < word_count(); ++word) allowed[at(word)] &= allowed_in(word);
    }

    /// Write the mask in word_count() words.
    void copy_to(std::span<std::uint32_t> words) const {
        for (Index word = 0; word < word_count(); ++word) words[at(word)] = allowed_in(word);
    }

    /// Return the number of words that the vocabulary takes.
    Index word_count() const { return (vocab_ + width - 1) / width; }

    /// Call f(id) for every token that is allowed.
    template <class F>
    void for_each(const F& f) const {
        for (Index word = 0; word < word_count(); ++word)
            for (std::uint32_t bits = allowed_in(word); bits != 0; bits &= bits - 1)
                f(word * width + detail::lowest_bit(bits));
    }

  private:
    static std::size_t at(Index word) { return static_cast<std::size_t>(word); }

    /// Return the number of words that are given, and inside the vocabulary.
    Index whole_words() const { return std::min(std::ssize(words_), vocab_ / width); }

    /// Return a word, without bits outside the vocabulary.
    std::uint32_t allowed_in(Index word) const {
        return word < std::ssize(words_) ? words_[at(word)] & inside(word) : 0;
    }

    /// Return the bits of a word that are inside the vocabulary.
    std::uint32_t inside(Index word) const {
        const Index rest = vocab_ - word * width;
        return rest >= width ? ~std::uint32_t{0} : (std::uint32_t{1} << rest) - 1;
    }

    std::span<const std::uint32_t> words_;
    Index vocab_;
};

}}}  // namespace specsample::detail

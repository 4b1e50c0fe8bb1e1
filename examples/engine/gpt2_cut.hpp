// Cuts a text as GPT-2 does before pairs are merged. No merge crosses a cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace engine {

/// What the pattern tells apart: \p{L}, \p{N}, \s and the rest. A byte that is no part of valid UTF-8 is one of the
/// rest.
enum class CharacterClass : std::uint8_t { other, letter, number, space };

/// The pieces are the matches of
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// in the whole text; with single digits, first every number stands alone, and what is between is a text of its own.
class Gpt2Cut {
  public:
    explicit Gpt2Cut(bool single_digits) : single_digits_(single_digits) {}

    /// Gives a class to the code points from `first` to `last`. Throws std::runtime_error for what is no range, and
    /// where one has a class already. Those never named are `other`.
    void classify(std::int32_t first, std::int32_t last, CharacterClass kind);

    /// The pieces of a text, in order and without gaps.
    std::vector<std::string_view> operator()(std::string_view text) const;

  private:
    struct Character {
        CharacterClass kind;
        std::size_t size;
    };

    Character front(std::string_view text) const;
    std::size_t run_length(std::string_view text, CharacterClass kind) const;
    std::size_t section_length(std::string_view text) const;
    std::size_t spaces_length(std::string_view text) const;
    std::size_t match_length(std::string_view text) const;

    bool single_digits_;
    std::vector<CharacterClass> classes_;  // by code point, up to the last that has one
};

}  // namespace engine

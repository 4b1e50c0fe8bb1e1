// Text to tokens and back for byte-level byte pairs, as GPT-2 and SmolLM2 have them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/gpt2_cut.hpp"
#include "engine/kernel.hpp"
#include "engine/merge.hpp"
#include "engine/token.hpp"

namespace engine {

/// The file, written by models/export_tokenizer.py; all numbers are little-endian:
///
///   the bytes SPTK, int32 version 1
///   int32 pieces, int32 merges, int32 token that begins a text, int32 token that ends one
///   uint8 1 if the model was trained with the begin token before a text, uint8 1 if digits are cut one by one,
///     uint8 1 if there is a form of chats; 0 otherwise
///   per piece, in the order of the ids: uint8 kind (0 normal, 1 special), uint16 size, its bytes
///   per merge, the first rank first: int32 left, int32 right; they become the normal piece that has their bytes
///   the characters that are letters, then numbers, then white space: int32 ranges; per range int32 first, int32 last
///   with a form of chats, the text before a user's message, then the text after it: int32 size, its bytes
///
/// A byte for which there is no piece is left out of a text, as the models' own tokenizers do: SmolLM2 has none for 13
/// that UTF-8 never has, six control characters, and the first of characters from U+40000 to U+BFFFF.
class ByteLevel {
  public:
    static constexpr std::string_view magic = "SPTK";

    /// From the file's content; throws std::runtime_error if it is not as above, with `vocab` pieces and nothing more.
    ByteLevel(std::string_view file, Index vocab);

    std::vector<Token> encode(std::string_view text) const;
    std::vector<Token> encode_with_specials(std::string_view text) const;
    std::optional<std::vector<Token>> chat(std::string_view message) const;
    std::string decode(Token previous, Token token) const;
    Token begin() const { return begin_; }
    Token end() const { return end_; }
    bool begins_texts() const { return begins_texts_; }
    Index vocab() const { return std::ssize(pieces_); }

  private:
    struct Special {
        std::string text;
        Token token;
    };
    struct Place {
        std::size_t position;    // the size of the text if there is none
        const Special* special;  // null if there is none
    };
    /// The special tokens around a message, and the plain text between them and it: that is encoded with the message.
    struct Chat {
        std::vector<Token> before, after;
        std::string lead, trail;
    };

    void read_pieces(std::string_view& file, Index count);
    void read_merges(std::string_view& file, Index count);
    void read_classes(std::string_view& file);
    void read_chat(std::string_view& file);
    bool is_normal(Token token) const;
    Place find_special(std::string_view text) const;

    Token begin_ = 0, end_ = 0;
    bool begins_texts_ = false;
    Gpt2Cut cut_{false};
    std::vector<std::string> pieces_;  // empty for a special token, which adds nothing to a text
    std::vector<Special> specials_;    // the longest first
    std::string special_starts_;       // the first bytes of all of them
    std::array<Token, 256> bytes_{};   // the piece of a single byte, or -1
    std::unordered_map<std::uint64_t, Joint> merges_;
    std::optional<Chat> chat_;
};

}  // namespace engine

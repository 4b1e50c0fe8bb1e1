#pragma once

// Text to tokens and back, for the three kinds of tokenizer that come with checkpoints:
//
// * BytePairs     the novpy vocabulary: bytes, <|endoftext|>, then merges in rank order (*.merges.u16)
// * ScoredPieces  llama2.c's export of a SentencePiece vocabulary (tokN.bin)
// * ByteLevel     the tokenizer of a GGUF model such as SmolLM2, exported by models/export_tokenizer.py
// * Tokenizer     any of them; the file's content tells which
//
// Any bytes can be encoded, valid UTF-8 or not, and decoding gives the same bytes back, where the vocabulary has a
// piece for each of them: ByteLevel says what may lack one.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/byte_level.hpp"
#include "engine/kernel.hpp"
#include "engine/token.hpp"

namespace engine {

class BytePairs {
  public:
    /// Reads pairs from a file's content; throws std::runtime_error for a pair that does not refer to earlier tokens.
    explicit BytePairs(std::string_view file);

    std::vector<Token> encode(std::string_view text) const;
    std::string decode(Token previous, Token token) const;
    Token begin() const { return end_of_text; }
    Token end() const { return end_of_text; }
    Index vocab() const { return std::ssize(pieces_); }

    static constexpr Token end_of_text = 256;

  private:
    std::vector<std::string> pieces_;
    std::map<std::pair<Token, Token>, Token> merges_;
};

class ScoredPieces {
  public:
    /// From the file's content; throws std::runtime_error if it does not hold `vocab` pieces and nothing more.
    ScoredPieces(std::string_view file, Index vocab);

    std::vector<Token> encode(std::string_view text) const;
    std::string decode(Token previous, Token token) const;
    Token begin() const { return begin_of_text; }
    Token end() const { return end_of_text; }
    Index vocab() const { return std::ssize(pieces_); }

    static constexpr Token begin_of_text = 1;
    static constexpr Token end_of_text = 2;

  private:
    std::vector<std::string> pieces_;
    std::vector<float> scores_;
    std::unordered_map<std::string, Token> ids_;  // of the pieces that text may consist of
};

class Tokenizer {
  public:
    /// Throws std::runtime_error, naming the file, if it is not a tokenizer for a model of `vocab` tokens.
    static Tokenizer load(const std::filesystem::path& path, Index vocab);

    /// The tokens of a text, without the begin token. What spells a special token is only text: nobody's words can end
    /// a turn of a chat.
    std::vector<Token> encode(std::string_view text) const;

    /// The same, but special tokens are found in the text before anything else. Only ByteLevel has some that text
    /// spells.
    std::vector<Token> encode_with_specials(std::string_view text) const;

    /// What a model reads for the tokens of a whole text: the begin token comes first if the model was trained so, and
    /// where there is nothing else to begin with. No second one comes.
    std::vector<Token> with_begin(std::vector<Token> tokens) const;

    /// What a model reads to answer a user's message, in which special tokens are only text: the model's own form of a
    /// chat with its default instructions. None if the file has no such form.
    std::optional<std::vector<Token>> chat(std::string_view message) const;

    /// The bytes that `token` adds after `previous`: a text is their concatenation from begin() on. The bytes of one
    /// character may be spread over several tokens. The begin, the end and other special tokens add none.
    std::string decode(Token previous, Token token) const;

    Token begin() const;
    Token end() const;
    Index vocab() const;

  private:
    using Kind = std::variant<BytePairs, ScoredPieces, ByteLevel>;
    explicit Tokenizer(Kind kind) : kind_(std::move(kind)) {}

    Kind kind_;
};

}  // namespace engine

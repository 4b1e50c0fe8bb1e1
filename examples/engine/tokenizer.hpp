#pragma once

// Text to tokens and back, for the two kinds of tokenizer that come with checkpoints:
//
// * BytePairs     the novpy vocabulary: bytes, <|endoftext|>, then merges in rank order (*.merges.u16)
// * ScoredPieces  llama2.c's export of a SentencePiece vocabulary (tokN.bin)
// * Tokenizer     either of them; the file's content tells which
//
// Any bytes can be encoded, valid UTF-8 or not, and decoding gives the same bytes back.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

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

    /// The tokens of a text, without the begin token.
    std::vector<Token> encode(std::string_view text) const;

    /// The bytes that `token` adds after `previous`: a text is their concatenation from begin() on. The bytes of one
    /// character may be spread over several tokens. The begin and end tokens add none.
    std::string decode(Token previous, Token token) const;

    Token begin() const;
    Token end() const;
    Index vocab() const;

  private:
    using Kind = std::variant<BytePairs, ScoredPieces>;
    explicit Tokenizer(Kind kind) : kind_(std::move(kind)) {}

    Kind kind_;
};

}  // namespace engine

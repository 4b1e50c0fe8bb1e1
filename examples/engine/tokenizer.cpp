#include "engine/tokenizer.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "engine/merge.hpp"
#include "engine/pieces.hpp"

namespace engine {
namespace {

constexpr Index byte_values = 256;
constexpr std::size_t longest_piece = 1024;  // a hostile file of pairs could double a piece without end

// Texts of the novpy vocabulary are cut before pairs are merged, by the pattern
//   '(?:s|t|re|ve|ll|d|m)(?![A-Za-z])|\n[\n ]*| ?[A-Za-z]+| ?[0-9]| ?[^A-Za-z0-9 \n]+| +(?= [^ \n])| +

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\n'; }
bool is_other(char c) { return !is_letter(c) && !is_digit(c) && !is_blank(c); }

template <class Predicate>
std::size_t run_length(std::string_view text, Predicate holds) {
    std::size_t length = 0;
    while (length < text.size() && holds(text[length])) ++length;
    return length;
}

std::size_t contraction_length(std::string_view text) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'ll", "'d", "'m"}) {
        if (!text.starts_with(ending)) continue;
        const bool word_goes_on = text.size() > ending.size() && is_letter(text[ending.size()]);
        if (!word_goes_on) return ending.size();
    }
    return 0;
}

/// The length of a word, a digit or a run of other characters, with at most one space before it; 0 if there is none.
std::size_t word_length(std::string_view text) {
    const std::size_t space = text.starts_with(' ') ? 1 : 0;
    const std::string_view word = text.substr(space);
    if (word.empty() || is_blank(word.front())) return 0;
    if (is_digit(word.front())) return space + 1;
    return space + (is_letter(word.front()) ? run_length(word, is_letter) : run_length(word, is_other));
}

/// The length of a run of spaces, without the last one if it belongs to a word that follows.
std::size_t spaces_length(std::string_view text) {
    const std::size_t spaces = run_length(text, [](char c) { return c == ' '; });
    const bool word_follows = spaces < text.size() && text[spaces] != '\n';
    return word_follows ? spaces - 1 : spaces;
}

/// The length of the first piece of a non-empty text.
std::size_t cut_length(std::string_view text) {
    if (text.front() == '\n') return run_length(text, is_blank);
    if (const std::size_t length = contraction_length(text)) return length;
    if (const std::size_t length = word_length(text)) return length;
    return spaces_length(text);
}

constexpr Token first_byte_piece = 3;  // of a llama2.c vocabulary: <unk>, <s>, </s>, then <0x00> to <0xFF>

std::string byte_piece(Index byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto value = static_cast<std::size_t>(byte);
    return std::string("<0x") + digits[value / 16] + digits[value % 16] + ">";
}

/// The length of the first character of a text: one byte and up to three UTF-8 continuation bytes behind it.
std::size_t character_length(std::string_view text) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return 1 + run_length(text.substr(1, 3), continues);
}

}  // namespace

BytePairs::BytePairs(std::string_view file) {
    for (Index byte = 0; byte < byte_values; ++byte) pieces_.push_back(std::string(1, static_cast<char>(byte)));
    pieces_.emplace_back();  // end_of_text adds nothing to a text
    while (!file.empty()) {
        const Token left = take<std::uint16_t>(file);
        const Token right = take<std::uint16_t>(file);
        const auto merged = static_cast<Token>(pieces_.size());
        const std::string pair =
            "the pair (" + std::to_string(left) + ", " + std::to_string(right) + ") of token " + std::to_string(merged);
        const bool known = left < merged && right < merged && left != end_of_text && right != end_of_text;
        if (!known) throw std::runtime_error(pair + " must refer to bytes and earlier merges");
        if (!merges_.try_emplace({left, right}, merged).second) throw std::runtime_error(pair + " comes twice");
        pieces_.push_back(piece(pieces_, left) + piece(pieces_, right));
        if (pieces_.back().size() > longest_piece) {
            throw std::runtime_error(pair + " makes a piece of more than " + std::to_string(longest_piece) + " bytes");
        }
    }
}

std::vector<Token> BytePairs::encode(std::string_view text) const {
    const auto join = [&](Token left, Token right) -> std::optional<Joint> {
        const auto merge = merges_.find({left, right});
        if (merge == merges_.end()) return std::nullopt;
        return Joint{static_cast<double>(merge->second), merge->second};  // ids grow with the rank
    };
    std::vector<Token> tokens;
    while (!text.empty()) {
        const std::string_view cut = text.substr(0, cut_length(text));
        text.remove_prefix(cut.size());
        std::vector<Token> bytes;
        for (const char c : cut) bytes.push_back(static_cast<unsigned char>(c));
        const std::vector<Token> merged = merge_pairs(bytes, join);
        tokens.insert(tokens.end(), merged.begin(), merged.end());
    }
    return tokens;
}

std::string BytePairs::decode(Token, Token token) const { return piece(pieces_, token); }

ScoredPieces::ScoredPieces(std::string_view file, Index vocab) {
    if (vocab < first_byte_piece + byte_values) throw std::runtime_error("it has no room for the 256 byte pieces");
    const auto longest = take<std::int32_t>(file);
    for (Index id = 0; id < vocab; ++id) {
        const auto score = take<float>(file);
        const auto length = take<std::int32_t>(file);
        const std::string name = "piece " + std::to_string(id) + " of " + std::to_string(vocab);
        if (!std::isfinite(score)) throw std::runtime_error(name + " has a score that is not finite");
        if (length < 0 || length > longest || static_cast<std::size_t>(length) > file.size()) {
            throw std::runtime_error(name + " has an impossible length of " + std::to_string(length) + " bytes");
        }
        scores_.push_back(score);
        pieces_.emplace_back(file.substr(0, static_cast<std::size_t>(length)));
        file.remove_prefix(pieces_.back().size());
    }
    if (!file.empty()) throw std::runtime_error("bytes follow its last piece, number " + std::to_string(vocab));
    for (Token byte = 0; byte < byte_values; ++byte) {
        std::string& name = pieces_[static_cast<std::size_t>(first_byte_piece + byte)];
        if (name != byte_piece(byte))
            throw std::runtime_error("the piece for byte " + byte_piece(byte) + " is missing");
        name = std::string(1, static_cast<char>(byte));
    }
    // Only the pieces behind the byte pieces are text: "<s>" or "<0x0A>" in a prompt are just characters.
    for (auto id = static_cast<Token>(first_byte_piece + byte_values); id < vocab; ++id) {
        ids_.try_emplace(piece(pieces_, id), id);
    }
    for (const Token special : {0, begin_of_text, end_of_text}) pieces_[static_cast<std::size_t>(special)].clear();
}

std::vector<Token> ScoredPieces::encode(std::string_view text) const {
    if (text.empty()) return {};
    const std::string spaced = std::string(1, ' ').append(text);  // SentencePiece begins every text with a space
    std::vector<Token> characters;
    for (std::string_view rest = spaced; !rest.empty();) {
        const std::string character(rest.substr(0, character_length(rest)));
        rest.remove_prefix(character.size());
        if (const auto found = ids_.find(character); found != ids_.end()) {
            characters.push_back(found->second);
        } else {
            for (const char byte : character) characters.push_back(first_byte_piece + static_cast<unsigned char>(byte));
        }
    }
    return merge_pairs(characters, [&](Token left, Token right) -> std::optional<Joint> {
        const auto found = ids_.find(piece(pieces_, left) + piece(pieces_, right));
        if (found == ids_.end()) return std::nullopt;
        return Joint{-static_cast<double>(scores_[static_cast<std::size_t>(found->second)]), found->second};
    });
}

std::string ScoredPieces::decode(Token previous, Token token) const {
    const std::string& text = piece(pieces_, token);
    const bool leading_space = previous == begin_of_text && text.starts_with(' ');
    return leading_space ? text.substr(1) : text;
}

Tokenizer Tokenizer::load(const std::filesystem::path& path, Index vocab) {
    const auto fail = [&](const std::string& what) -> std::runtime_error {
        return std::runtime_error("tokenizer " + path.string() + " for a vocabulary of " + std::to_string(vocab) +
                                  ": " + what);
    };
    std::ifstream stream(path, std::ios::binary);
    if (!stream || std::filesystem::is_directory(path)) throw fail("cannot be opened");
    const std::string file(std::istreambuf_iterator<char>(stream), {});
    // The size tells the other kinds apart: a file of scored pieces has more than 8 bytes per token.
    const Index merges_size = 4 * (vocab - BytePairs::end_of_text - 1);
    std::string kind = "byte-level pieces, but ";
    try {
        if (file.starts_with(ByteLevel::magic)) return Tokenizer(ByteLevel(file, vocab));
        kind = "byte-pair merges, but ";
        if (std::ssize(file) == merges_size) return Tokenizer(BytePairs(file));
        kind = "not the " + std::to_string(merges_size) + " bytes of byte-pair merges, and as llama2.c pieces wrong: ";
        return Tokenizer(ScoredPieces(file, vocab));
    } catch (const std::runtime_error& error) {
        throw fail(kind + error.what());
    }
}

std::vector<Token> Tokenizer::encode(std::string_view text) const {
    return std::visit([&](const auto& kind) { return kind.encode(text); }, kind_);
}

std::vector<Token> Tokenizer::encode_with_specials(std::string_view text) const {
    const auto* const kind = std::get_if<ByteLevel>(&kind_);
    return kind == nullptr ? encode(text) : kind->encode_with_specials(text);
}

std::vector<Token> Tokenizer::with_begin(std::vector<Token> tokens) const {
    const auto* const kind = std::get_if<ByteLevel>(&kind_);
    const bool wanted = tokens.empty() || kind == nullptr || kind->begins_texts();
    const bool there = !tokens.empty() && tokens.front() == begin();
    if (wanted && !there) tokens.insert(tokens.begin(), begin());
    return tokens;
}

std::optional<std::vector<Token>> Tokenizer::chat(std::string_view message) const {
    const auto* const kind = std::get_if<ByteLevel>(&kind_);
    std::optional<std::vector<Token>> tokens;
    if (kind != nullptr) tokens = kind->chat(message);
    if (tokens) tokens = with_begin(*tokens);
    return tokens;
}

std::string Tokenizer::decode(Token previous, Token token) const {
    return std::visit([&](const auto& kind) { return kind.decode(previous, token); }, kind_);
}

Token Tokenizer::begin() const {
    return std::visit([](const auto& kind) { return kind.begin(); }, kind_);
}

Token Tokenizer::end() const {
    return std::visit([](const auto& kind) { return kind.end(); }, kind_);
}

Index Tokenizer::vocab() const {
    return std::visit([](const auto& kind) { return kind.vocab(); }, kind_);
}

}  // namespace engine

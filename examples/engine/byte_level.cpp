#include "engine/byte_level.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "engine/pieces.hpp"

namespace engine {
namespace {

constexpr std::int32_t known_version = 1;
constexpr Token no_piece = -1;

std::uint64_t pair_key(Token left, Token right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

/// Reads a number that must not be negative: of things, or of bytes.
std::int32_t take_count(std::string_view& file, const std::string& what) {
    const auto count = take<std::int32_t>(file);
    if (count < 0) throw std::runtime_error("the number of " + what + " is " + std::to_string(count));
    return count;
}

bool take_flag(std::string_view& file, const std::string& what) {
    const auto flag = take<std::uint8_t>(file);
    if (flag > 1) throw std::runtime_error(what + " is " + std::to_string(flag) + ", but must be 0 or 1");
    return flag == 1;
}

std::string_view take_text(std::string_view& file, const std::string& name) {
    return take_bytes(file, static_cast<std::size_t>(take_count(file, "bytes of the " + name)));
}

void append_to(std::vector<Token>& tokens, const std::vector<Token>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
}

}  // namespace

ByteLevel::ByteLevel(std::string_view file, Index vocab) {
    if (take_bytes(file, magic.size()) != magic) throw std::runtime_error("it does not begin with SPTK");
    const auto version = take<std::int32_t>(file);
    if (version != known_version) {
        throw std::runtime_error("its version is " + std::to_string(version) + ", but must be 1");
    }
    const Index pieces = take_count(file, "pieces");
    if (pieces != vocab) throw std::runtime_error("it has " + std::to_string(pieces) + " pieces");
    const Index merges = take_count(file, "merges");
    begin_ = take<std::int32_t>(file);
    end_ = take<std::int32_t>(file);
    for (const Token token : {begin_, end_}) {
        if (token < 0 || token >= vocab) {
            throw std::runtime_error("token " + std::to_string(token) + " cannot begin or end its texts");
        }
    }
    begins_texts_ = take_flag(file, "whether the begin token comes before a text");
    cut_ = Gpt2Cut(take_flag(file, "whether digits are cut one by one"));
    const bool has_chat = take_flag(file, "whether there is a form of chats");
    read_pieces(file, pieces);
    read_merges(file, merges);
    read_classes(file);
    if (has_chat) read_chat(file);
    if (!file.empty()) throw std::runtime_error("bytes follow its end");
}

void ByteLevel::read_pieces(std::string_view& file, Index count) {
    bytes_.fill(no_piece);
    for (Token id = 0; id < count; ++id) {
        const std::string name = "piece " + std::to_string(id);
        const bool special = take_flag(file, "the kind of " + name);
        const std::string text(take_bytes(file, take<std::uint16_t>(file)));
        if (text.empty()) throw std::runtime_error(name + " is empty");
        if (special) specials_.push_back({text, id});
        if (!special && text.size() == 1) bytes_[static_cast<unsigned char>(text.front())] = id;
        pieces_.push_back(special ? "" : text);
    }
    const auto longer = [](const Special& a, const Special& b) { return a.text.size() > b.text.size(); };
    std::stable_sort(specials_.begin(), specials_.end(), longer);
    for (const Special& special : specials_) {
        const char start = special.text.front();
        if (special_starts_.find(start) == std::string::npos) special_starts_ += start;
    }
}

void ByteLevel::read_merges(std::string_view& file, Index count) {
    std::unordered_map<std::string_view, Token> ids;
    for (Token id = 0; id < vocab(); ++id) {
        if (is_normal(id) && !ids.try_emplace(piece(pieces_, id), id).second) {
            throw std::runtime_error("piece " + std::to_string(id) + " has the bytes of an earlier one");
        }
    }
    for (Index rank = 0; rank < count; ++rank) {
        const auto left = take<std::int32_t>(file);
        const auto right = take<std::int32_t>(file);
        const std::string pair = "the merge (" + std::to_string(left) + ", " + std::to_string(right) + ")";
        if (!is_normal(left) || !is_normal(right)) throw std::runtime_error(pair + " must be of normal pieces");
        const auto merged = ids.find(piece(pieces_, left) + piece(pieces_, right));
        if (merged == ids.end()) throw std::runtime_error(pair + " makes what is no piece");
        const Joint joint{static_cast<double>(rank), merged->second};
        if (!merges_.try_emplace(pair_key(left, right), joint).second) throw std::runtime_error(pair + " comes twice");
    }
}

void ByteLevel::read_classes(std::string_view& file) {
    for (const auto kind : {CharacterClass::letter, CharacterClass::number, CharacterClass::space}) {
        const std::int32_t ranges = take_count(file, "ranges of characters");
        for (std::int32_t i = 0; i < ranges; ++i) {
            const auto first = take<std::int32_t>(file);
            const auto last = take<std::int32_t>(file);
            cut_.classify(first, last, kind);
        }
    }
}

void ByteLevel::read_chat(std::string_view& file) {
    const std::string_view before = take_text(file, "text before a message");
    const std::string_view after = take_text(file, "text after a message");
    std::string_view lead = before;
    for (Place place = find_special(lead); place.special != nullptr; place = find_special(lead)) {
        lead.remove_prefix(place.position + place.special->text.size());
    }
    const std::string_view trail = after.substr(0, find_special(after).position);
    chat_ = Chat{.before = encode_with_specials(before.substr(0, before.size() - lead.size())),
                 .after = encode_with_specials(after.substr(trail.size())),
                 .lead = std::string(lead),
                 .trail = std::string(trail)};
}

bool ByteLevel::is_normal(Token token) const {
    return token >= 0 && token < vocab() && !pieces_[static_cast<std::size_t>(token)].empty();
}

/// The first special token in a text, and the longest of those that begin there.
ByteLevel::Place ByteLevel::find_special(std::string_view text) const {
    for (std::size_t i = text.find_first_of(special_starts_); i < text.size();
         i = text.find_first_of(special_starts_, i + 1)) {
        for (const Special& special : specials_) {
            if (text.substr(i).starts_with(special.text)) return {i, &special};
        }
    }
    return {text.size(), nullptr};
}

std::vector<Token> ByteLevel::encode(std::string_view text) const {
    const auto join = [&](Token left, Token right) -> std::optional<Joint> {
        const auto merge = merges_.find(pair_key(left, right));
        if (merge == merges_.end()) return std::nullopt;
        return merge->second;
    };
    std::vector<Token> tokens, bytes;
    for (const std::string_view word : cut_(text)) {
        bytes.clear();
        for (const char c : word) {
            const Token byte = bytes_[static_cast<unsigned char>(c)];
            if (byte != no_piece) bytes.push_back(byte);
        }
        append_to(tokens, merge_pairs(bytes, join));
    }
    return tokens;
}

std::vector<Token> ByteLevel::encode_with_specials(std::string_view text) const {
    std::vector<Token> tokens;
    for (Place place = find_special(text); place.special != nullptr; place = find_special(text)) {
        append_to(tokens, encode(text.substr(0, place.position)));
        tokens.push_back(place.special->token);
        text.remove_prefix(place.position + place.special->text.size());
    }
    append_to(tokens, encode(text));
    return tokens;
}

std::optional<std::vector<Token>> ByteLevel::chat(std::string_view message) const {
    if (!chat_) return std::nullopt;
    std::vector<Token> tokens = chat_->before;
    append_to(tokens, encode(chat_->lead + std::string(message) + chat_->trail));
    append_to(tokens, chat_->after);
    return tokens;
}

std::string ByteLevel::decode(Token, Token token) const { return piece(pieces_, token); }

}  // namespace engine

#include "engine/gpt2_cut.hpp"

#include <stdexcept>
#include <string>

namespace engine {
namespace {

constexpr std::int32_t last_code_point = 0x10FFFF;

struct CodePoint {
    std::uint32_t value;
    std::size_t size;  // 0 for what is not UTF-8
};

/// How many bytes a character has by its first one; 0 for a byte that begins none.
std::size_t utf8_size(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/// The first character of a non-empty text, if it is valid UTF-8: no longer than needed, and no half of a surrogate
/// pair.
CodePoint decode_utf8(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t size = utf8_size(lead);
    if (size == 1) return {lead, 1};
    if (size == 0 || text.size() < size) return {0, 0};
    std::uint32_t value = lead & (0x7Fu >> size);
    for (const char c : text.substr(1, size - 1)) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0u) != 0x80u) return {0, 0};
        value = value << 6 | (byte & 0x3Fu);
    }
    const std::uint32_t least = size == 2 ? 0x80 : size == 3 ? 0x800 : 0x10000;
    const bool surrogate = value >= 0xD800 && value < 0xE000;
    return {value, value < least || surrogate || value > last_code_point ? 0 : size};
}

std::size_t ending_length(std::string_view text) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
        if (text.starts_with(ending)) return ending.size();
    }
    return 0;
}

}  // namespace

void Gpt2Cut::classify(std::int32_t first, std::int32_t last, CharacterClass kind) {
    const std::string range = "the characters " + std::to_string(first) + " to " + std::to_string(last);
    if (first < 0 || last < first || last > last_code_point) throw std::runtime_error(range + " are no range");
    const auto end = static_cast<std::size_t>(last) + 1;
    if (classes_.size() < end) classes_.resize(end, CharacterClass::other);
    for (auto i = static_cast<std::size_t>(first); i < end; ++i) {
        CharacterClass& known = classes_[i];
        if (known != CharacterClass::other) throw std::runtime_error(range + " have a class already");
        known = kind;
    }
}

std::vector<std::string_view> Gpt2Cut::operator()(std::string_view text) const {
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        std::string_view section = text.substr(0, single_digits_ ? section_length(text) : text.size());
        text.remove_prefix(section.size());
        while (!section.empty()) {
            pieces.push_back(section.substr(0, match_length(section)));
            section.remove_prefix(pieces.back().size());
        }
    }
    return pieces;
}

/// The first character of a non-empty text.
Gpt2Cut::Character Gpt2Cut::front(std::string_view text) const {
    const CodePoint point = decode_utf8(text);
    if (point.size == 0) return {CharacterClass::other, 1};
    return {point.value < classes_.size() ? classes_[point.value] : CharacterClass::other, point.size};
}

/// How many bytes of a text belong to characters of this class, from its start on.
std::size_t Gpt2Cut::run_length(std::string_view text, CharacterClass kind) const {
    std::size_t length = 0;
    while (length < text.size()) {
        const Character next = front(text.substr(length));
        if (next.kind != kind) break;
        length += next.size;
    }
    return length;
}

/// The length of the number that a text begins with, or of all before the first number.
std::size_t Gpt2Cut::section_length(std::string_view text) const {
    std::size_t length = 0;
    while (length < text.size()) {
        const Character next = front(text.substr(length));
        if (next.kind == CharacterClass::number) return length == 0 ? next.size : length;
        length += next.size;
    }
    return length;
}

/// The length of a run of white space, without its last character if it has more and a word follows.
std::size_t Gpt2Cut::spaces_length(std::string_view text) const {
    const std::size_t length = run_length(text, CharacterClass::space);
    if (length == text.size()) return length;
    std::size_t last = 0;
    for (std::size_t next = 0; next < length; next += front(text.substr(next)).size) last = next;
    return last == 0 ? length : last;
}

/// The length of the pattern's match at the start of a non-empty text.
std::size_t Gpt2Cut::match_length(std::string_view text) const {
    if (const std::size_t length = ending_length(text)) return length;
    const std::size_t space = text.starts_with(' ') ? 1 : 0;
    const std::string_view word = text.substr(space);
    const CharacterClass kind = word.empty() ? CharacterClass::space : front(word).kind;
    return kind == CharacterClass::space ? spaces_length(text) : space + run_length(word, kind);
}

}  // namespace engine

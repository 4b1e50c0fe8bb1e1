// Compares two vocabularies by the texts of their tokens: equal sizes prove nothing.
//
//   vocabulary_intersection(draft, target)   the map between tokens of equal texts
//   vocabulary_difference(draft, target)     the ids whose texts differ, as a value with a message
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <specsample/vocabularies/id_map.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// The texts of a vocabulary, by id: a vector, an array or a span of strings or string views.
template <class List>
concept Texts = requires(const List& list) {
    { std::span(list)[0] } -> std::convertible_to<std::string_view>;
};

template <Texts List>
std::string_view text_at(const List& texts, Index id) {
    return std::span(texts)[static_cast<std::size_t>(id)];
}

/// Write a text in quotes, with escapes for bytes that are not printable ASCII, because a token may hold any bytes.
inline std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        char buffer[8];
        const bool is_plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
        std::snprintf(buffer, sizeof buffer, is_plain ? "%c" : "\\x%02x", static_cast<unsigned>(byte));
        result += buffer;
    }
    return result + '"';
}

}  // namespace detail

namespace vocabularies {

/// Map each draft id to a target id of the same text, if there is one: the tokens that two vocabularies have in common.
///
/// A draft behind this map draws from the token-level intersection of the vocabularies (TLI): its row is masked to the
/// common tokens before the softmax. It is accepted at least as often as a draft that may also draw tokens which the
/// target does not have.
///
/// @param draft, target   the texts of the tokens by id, as bytes that can be compared: a tokenizer's own marks for
///                        spaces and bytes must be undone first. An empty text, such as that of padding, equals no
///                        other text
/// @param target_vocab    entries of the target's rows, if they are padded beyond its texts
/// @returns               the map; if the target has a text more than once, the image is the same id if possible, else
///                        the lowest id
/// @throws                std::invalid_argument if nothing is in common, or target_vocab is less than the number of the
///                        target's texts
/// @cost                  a hash table of the target's texts
/// @source                Timor et al. 2025, arXiv:2502.05202, Algorithm 4
template <detail::Texts Draft, detail::Texts Target>
IdMap vocabulary_intersection(const Draft& draft, const Target& target, Index target_vocab) {
    const Index draft_size = std::ssize(std::span(draft)), target_size = std::ssize(std::span(target));
    if (target_vocab < target_size)
        detail::invalid("vocabulary_intersection", "target_vocab", target_vocab,
                        "at least the number of the target's texts, " + detail::to_text(target_size));
    std::unordered_map<std::string_view, Token> lowest(static_cast<std::size_t>(target_size));
    for (Index id = 0; id < target_size; ++id) lowest.emplace(detail::text_at(target, id), static_cast<Token>(id));
    std::vector<Token> to_target(static_cast<std::size_t>(draft_size), -1);
    for (Index id = 0; id < draft_size; ++id) {
        const std::string_view text = detail::text_at(draft, id);
        if (text.empty()) continue;
        Token& image = to_target[static_cast<std::size_t>(id)];
        if (id < target_size && detail::text_at(target, id) == text) {
            image = static_cast<Token>(id);
        } else if (const auto found = lowest.find(text); found != lowest.end()) {
            image = found->second;
        }
    }
    return IdMap(to_target, target_vocab);
}
template <detail::Texts Draft, detail::Texts Target>
IdMap vocabulary_intersection(const Draft& draft, const Target& target) {
    return vocabulary_intersection(draft, target, std::ssize(std::span(target)));
}

/// The difference between two vocabularies.
struct VocabularyDifference {
    Index draft_vocab = 0;
    Index target_vocab = 0;
    Index differing = 0;  ///< ids that both vocabularies have, with different texts

    std::optional<Index> first{};  ///< the lowest id with different texts
    std::string draft_text{};      ///< its text in the draft
    std::string target_text{};     ///< its text in the target

    /// Tell whether there is a difference.
    explicit operator bool() const { return differing > 0 || draft_vocab != target_vocab; }
};

/// Compare two vocabularies by size and by content. An engine that compares sizes alone may draft other tokens than it
/// believes: the text stays exact, but almost nothing is accepted.
///
/// @param draft, target   the texts of the tokens by id
/// @cost                  one comparison per id
template <detail::Texts Draft, detail::Texts Target>
VocabularyDifference vocabulary_difference(const Draft& draft, const Target& target) {
    VocabularyDifference result{.draft_vocab = std::ssize(std::span(draft)),
                                .target_vocab = std::ssize(std::span(target))};
    for (Index id = 0; id < std::min(result.draft_vocab, result.target_vocab); ++id) {
        const std::string_view in_draft = detail::text_at(draft, id), in_target = detail::text_at(target, id);
        if (in_draft == in_target) continue;
        if (result.differing++ > 0) continue;
        result.first = id;
        result.draft_text = in_draft;
        result.target_text = in_target;
    }
    return result;
}

/// Write a sentence that describes the difference, or says that there is none.
inline std::string message(const VocabularyDifference& found) {
    using detail::to_text;
    if (!found) return "the vocabularies are the same: " + to_text(found.draft_vocab) + " ids with equal texts";
    std::string text = "the draft has " + to_text(found.draft_vocab) + " ids and the target " +
                       to_text(found.target_vocab) + "; of those that both have, ";
    if (!found.first) return text + "all have equal texts";
    return text + to_text(found.differing) + " have different texts, the first of them " + to_text(*found.first) +
           ": " + detail::quoted(found.draft_text) + " in the draft, " + detail::quoted(found.target_text) +
           " in the target";
}

}  // namespace vocabularies

}}  // namespace specsample

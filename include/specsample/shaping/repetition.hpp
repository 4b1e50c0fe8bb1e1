// Filters that keep a text from repeating itself: no n-gram twice, and DRY, which lowers what would prolong a
// repetition.
//
// NoRepeatNgram: Paulus, Xiong, Socher: "A deep reinforced model for abstractive summarization", ICLR 2018
// (arXiv:1705.04304), section 2.5, for trigrams; `no_repeat_ngram_size` of transformers and TensorRT-LLM.
// Dry: "Don't repeat yourself", of text-generation-webui; the samplers of llama.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/number.hpp>
#include <specsample/shaping/change.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace filters {

/// Ban every token that would end an n-gram which the text has already. 0 bans nothing; 1 bans every token of the text.
///
/// @cost   a pass over the text, not over the row: a top-k reads the row where it lies
class NoRepeatNgram {
  public:
    /// @throws std::invalid_argument unless size >= 0
    explicit NoRepeatNgram(Index size) : size_(size) {
        detail::require(size >= 0, "NoRepeatNgram", "size", size, "at least 0");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        for_each_banned(context, [&](Token token) { row.forbid(token); });
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        for_each_banned(context, [&](Token token) { outlook.change(token); });
    }

  private:
    void for_each_banned(std::span<const Token> context, const auto& ban) const {
        if (size_ == 0 || std::ssize(context) < size_) return;
        const auto length = static_cast<std::size_t>(size_ - 1);
        const std::span<const Token> last = context.last(length);
        for (std::size_t first = 0; first + length < context.size(); ++first)
            if (std::equal(last.begin(), last.end(), context.begin() + static_cast<Index>(first)))
                ban(context[first + length]);
    }

    Index size_;
};

/// DRY: lower the logit of every token that would prolong a repetition of the end of the text.
///
///     z - multiplier * base^(length - allowed_length)   where length >= allowed_length
///
/// `length` is how many of the last tokens of the text also stand before an earlier occurrence of the token: of several
/// occurrences the longest counts. No repetition reaches back over a sequence breaker: only what follows the last one
/// is compared.
///
///     Dry{.multiplier = .8, .sequence_breakers = {{newline}, {colon}}}
///
/// @cost   a pass over the window. The row is copied if a later step needs all its logits: a top-k does not
/// @edge   the power is cut where it would not be finite
struct Dry {
    double multiplier = 0;         ///< 0 changes nothing
    double base = 1.75;            ///< >= 1
    Index allowed_length = 2;      ///< repetitions shorter than this are not lowered, >= 1
    Index last_n = whole_context;  ///< last tokens of the text that are looked at
    std::vector<std::vector<Token>> sequence_breakers{};

    /// Check the settings.
    /// @throws std::invalid_argument for a setting out of range
    void check() const {
        detail::require(detail::is_finite(multiplier) && multiplier >= 0, "Dry", "multiplier", multiplier,
                        "a finite number >= 0");
        detail::require(detail::is_finite(base) && base >= 1, "Dry", "base", base, "a finite number >= 1");
        detail::require(allowed_length >= 1, "Dry", "allowed_length", allowed_length, "at least 1");
        detail::require(last_n >= 0, "Dry", "last_n", last_n, "at least 0");
        for (const auto& breaker : sequence_breakers)
            detail::require(!breaker.empty(), "Dry", "the length of a sequence breaker", Index{0}, "at least 1");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        check();
        const std::span<const Token> text = Window{last_n, 0}.of(context);
        const Index limit = multiplier == 0 ? 0 : after_breakers(text);
        if (limit < allowed_length || row.size() == 0) return;
        std::vector<Token>& lengths = row.scratch().places;
        find_repetitions(text, lengths);
        bool is_any = false;
        const std::size_t window = row.scratch().windows.take([&](const auto& add) {
            for (std::size_t place = 1; place < text.size(); ++place)
                if (const Index length = std::min<Index>(lengths[place], limit); length >= allowed_length)
                    add(text[place], length), is_any = true;
        });
        const detail::Penalty penalty{detail::Penalty::Kind::growing, multiplier, row.temperature(), base,
                                      allowed_length};
        if (is_any) detail::penalise(row, window, penalty);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (multiplier == 0) return;
        for (const Token token : Window{last_n, 0}.of(context)) outlook.change(token);
    }

  private:
    /// Return how many tokens follow the last sequence breaker.
    Index after_breakers(std::span<const Token> text) const {
        for (std::size_t end = text.size(); end > 0; --end)
            for (const std::vector<Token>& breaker : sequence_breakers)
                if (breaker.size() <= end && std::ranges::equal(breaker, text.first(end).last(breaker.size())))
                    return static_cast<Index>(text.size() - end);
        return std::ssize(text);
    }

    /// Write, for every place of the text but the first, how many tokens before it are the last ones of the text.
    static void find_repetitions(std::span<const Token> text, std::vector<Token>& lengths) {
        const auto size = std::ssize(text);
        const auto from_end = [&](Index i) { return text[static_cast<std::size_t>(size - 1 - i)]; };
        lengths.assign(text.size(), 0);
        // The Z-algorithm on the reversed text: [left, right) is the match that reaches furthest. The match at i of the
        // reversed text ends before place size - i.
        Token* const matches = lengths.data();
        for (Index i = 1, left = 0, right = 0; i < size; ++i) {
            Index length = i < right ? std::min<Index>(right - i, reversed(matches, size, i - left)) : 0;
            while (i + length < size && from_end(length) == from_end(i + length)) ++length;
            matches[size - i] = static_cast<Token>(length);
            if (i + length > right) left = i, right = i + length;
        }
    }
    /// Return the length of the match at a place of the reversed text.
    static Index reversed(const Token* lengths, Index size, Index i) { return i == 0 ? size : lengths[size - i]; }
};

}  // namespace filters

}}  // namespace specsample

// Filters that ban or force tokens by the text before them: bad words, a least length, a budget for thinking.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/shaping/candidates.hpp>
#include <specsample/shaping/window.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace detail {

/// Return whether a text ends with some tokens.
inline bool ends_with(std::span<const Token> text, std::span<const Token> tokens) {
    return tokens.size() <= text.size() && std::ranges::equal(tokens, text.last(tokens.size()));
}

/// Bans the tokens that end a text, which it borrows, until there are enough new tokens.
struct BanStops {
    Index min_tokens;
    std::span<const Token> stop_tokens;
    Index prompt_size;

    template <class Value>
    void operator()(filters::Candidates<Value>& row, std::span<const Token> context) const {
        for (const Token token : banned(context, row.prompt_size())) row.forbid(token);
    }

    void foresee(auto& outlook, std::span<const Token> context) const {
        for (const Token token : banned(context, outlook.prompt_size())) outlook.change(token);
    }

  private:
    std::span<const Token> banned(std::span<const Token> context, Index told) const {
        const bool is_short = std::ssize(context) < leading(prompt_size, told) + min_tokens;
        return is_short ? stop_tokens : std::span<const Token>();
    }
};

}  // namespace detail

namespace filters {

/// Ban the last token of a sequence where the text ends with the others: no sequence is ever written. A sequence of one
/// token is banned everywhere. vLLM's `bad_words` and transformers' `bad_words_ids`, in tokens.
///
/// @cost   O(sequences), not a pass over the row: a top-k reads the row where it lies
struct BadWords {
    std::vector<std::vector<Token>> token_ids{};

    /// Check the settings.
    /// @throws std::invalid_argument for an empty sequence
    void check() const {
        for (const auto& sequence : token_ids)
            detail::require(!sequence.empty(), "BadWords", "the length of a sequence", Index{0}, "at least 1");
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
        check();
        for (const auto& sequence : token_ids)
            if (detail::ends_with(context, std::span(sequence).first(sequence.size() - 1))) ban(sequence.back());
    }
};

/// Ban the tokens that end a text until it has enough new tokens: vLLM's `min_tokens`.
///
/// @cost   O(stop tokens), not a pass over the row: a top-k reads the row where it lies
struct MinTokens {
    Index min_tokens = 0;                 ///< new tokens that a text must have; 0 bans nothing
    std::vector<Token> stop_token_ids{};  ///< tokens that end a text
    Index prompt_size = whole_prompt;     ///< leading tokens that are not new

    /// Check the settings.
    /// @throws std::invalid_argument for negative numbers
    void check() const {
        detail::require(min_tokens >= 0, "MinTokens", "min_tokens", min_tokens, "at least 0");
        detail::require(prompt_size >= whole_prompt, "MinTokens", "prompt_size", prompt_size,
                        "at least 0, or whole_prompt");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        check();
        stage()(row, context);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const { stage().foresee(outlook, context); }

  private:
    detail::BanStops stage() const { return {min_tokens, stop_token_ids, prompt_size}; }
};

/// Bound the thinking of a text: once it has `budget` tokens after the last `start` marker without an `end` marker, the
/// tokens of the end marker are forced, one after the other. A model that ends its thinking earlier is left alone.
///
/// @cost   a pass over the text after the marker
/// @edge   a forced token that a mask forbids leaves nothing: a fault of the target (Cause::all_masked)
struct ThinkingBudget {
    std::vector<Token> start{};  ///< empty: nothing is forced
    std::vector<Token> end{};    ///< at least one token where `start` has some
    Index budget = 0;            ///< tokens between the markers, >= 0

    /// Check the settings.
    /// @throws std::invalid_argument for a negative budget, or no end marker
    void check() const {
        detail::require(budget >= 0, "ThinkingBudget", "budget", budget, "at least 0");
        detail::require(start.empty() || !end.empty(), "ThinkingBudget", "the length of the end marker", Index{0},
                        "at least 1");
    }

    template <class Value>
    void operator()(Candidates<Value>& row, std::span<const Token> context) const {
        check();
        const Token token = forced(context);
        if (token < 0 || row.size() == 0) return;
        auto& places = row.scratch().places;
        places.clear();
        if (const Index place = row.place_of(token); place >= 0) places.push_back(static_cast<Token>(place));
        row.keep(places);
    }

    /// Tell `outlook` what this filter does to logits.
    void foresee(auto& outlook, std::span<const Token> context) const {
        if (forced(context) >= 0) outlook.limit({});
    }

    /// Return the token that must follow a text; -1 if any may.
    Token forced(std::span<const Token> context) const {
        if (start.empty()) return -1;
        std::size_t thought = 0;  // tokens after the last marker
        for (; !detail::ends_with(context.first(context.size() - thought), start); ++thought) {
            if (thought == context.size()) return -1;
            if (detail::ends_with(context.first(context.size() - thought), end)) return -1;
        }
        if (static_cast<Index>(thought) < budget) return -1;
        std::size_t written = std::min(end.size() - 1, thought);  // tokens of the end marker that are there
        while (!detail::ends_with(context, std::span(end).first(written))) --written;
        return end[written];
    }
};

}  // namespace filters

}}  // namespace specsample

// The options and limits of a sampler, and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The options of a sampler, fixed for its life.
struct Options {
    Index lookahead = 4;             ///< tokens that a round drafts, 0 .. most_drafted; 0 is plain decoding
    std::uint64_t seed = 0;          ///< decides all random numbers, together with the request
    Check check = Check::every_row;  ///< how much of the models' rows to check
};

/// The limits of one text. Limits never change the random draws: a shorter text is the beginning of a longer one. But
/// three limits may shorten drafts, which changes the text under a rule that judges drafts as wholes (block
/// verification): max_length, because no model sees more tokens, and stop_tokens and until, because a draft ends where
/// the text does.
struct Limits {
    Index max_new_tokens = 128;        ///< most tokens to write in this call, >= 0
    Index max_length = unlimited;      ///< most tokens of prompt and text together; no model sees more
    std::vector<Token> stop_tokens{};  ///< the text ends after any of these, which stays in it
    /// A predicate that ends the text, as RoundLimits::until does; the last token stays or is left out. It is shown the
    /// tokens written so far, up to the token that it decides about: in generate and extend all new tokens, in step the
    /// tokens of the round. It is asked about drafted tokens as well, so that nothing is drafted past an end and no row
    /// past an end is read. In a sampler's first round, before the target has shown how many ids it has, these may be
    /// ids that the target does not have, if the draft model has more.
    detail::StopPredicate until{};
    std::uint64_t request = 0;            ///< below 2^32; a new text needs a new request
    std::optional<std::uint64_t> seed{};  ///< of this text, in place of Options::seed: what a user asks for by name
    /// Leading tokens that are the prompt: penalties of the answer, min_tokens and grammars that begin after the prompt
    /// (filters::whole_prompt) skip them. By default all tokens that generate and extend are given, none in step.
    std::optional<Index> prompt_size{};
    Index top_logprobs = 0;  ///< how many of the likeliest tokens, 0 .. 64, to list for an on_token with scores
};

namespace detail {

/// Return an id as a token.
/// @throws std::invalid_argument for an id that is no token
Token checked_token(auto id) {
    require(id >= 0 && std::in_range<Token>(id), "Sampler", "a token of the prompt", id, "a token id of 31 bits");
    return static_cast<Token>(id);
}

/// Check the limits of a text, and its tokens.
/// @throws std::invalid_argument for a limit or a token out of range
inline void check_limits(const Limits& limits, std::span<const Token> text) {
    const auto size = static_cast<Index>(text.size());
    require_memory("Sampler", "text", text);
    require(limits.max_new_tokens >= 0, "Sampler", "limits.max_new_tokens", limits.max_new_tokens, "at least 0");
    require(limits.top_logprobs >= 0 && limits.top_logprobs <= 64, "Sampler", "limits.top_logprobs",
            limits.top_logprobs, "0 to 64");
    require(limits.request <= 0xffff'ffff, "Sampler", "limits.request", limits.request, "below 2^32");
    const Index prompt_size = limits.prompt_size.value_or(Index{0});
    require(prompt_size >= 0, "Sampler", "limits.prompt_size", prompt_size, "at least 0");
    if (limits.max_length < size)
        invalid("Sampler", "limits.max_length", limits.max_length,
                "at least the " + to_text(size) + " tokens there are");
    for (const Token token : text) checked_token(token);
}

}  // namespace detail

/// Why a text ended.
enum class FinishReason {
    stop,      ///< a stop token was written
    until,     ///< limits.until ended it
    callback,  ///< on_token ended it
    budget,    ///< limits.max_new_tokens are written
    length     ///< prompt and text have reached limits.max_length
};

/// A finished text, and a range of its tokens.
struct Generation {
    std::vector<Token> tokens;                   ///< without the prompt
    FinishReason finish = FinishReason::budget;  ///< why it ended
    Tally tally;                                 ///< the counts of its rounds

    /// Convert to the tokens alone.
    operator std::vector<Token>() const& { return tokens; }
    operator std::vector<Token>() && { return std::move(tokens); }

    std::size_t size() const { return tokens.size(); }
    bool empty() const { return tokens.empty(); }
    const Token* data() const { return tokens.data(); }
    auto begin() const { return tokens.begin(); }
    auto end() const { return tokens.end(); }
    Token front() const { return tokens.front(); }
    Token back() const { return tokens.back(); }
    Token operator[](detail::Integer auto i) const { return tokens[static_cast<std::size_t>(i)]; }
};

}}  // namespace specsample

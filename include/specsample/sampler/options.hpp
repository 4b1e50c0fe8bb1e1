// The options and limits of a sampler, and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {

/// The options of a sampler, fixed for its life.
struct Options {
    Index lookahead = 4;             ///< tokens that a round drafts, 0 .. most_drafted; 0 is plain decoding
    std::uint64_t seed = 0;          ///< with the request it decides all random numbers
    Check check = Check::every_row;  ///< how much of the models' rows to check
};

/// The limits of one text. They never change the random draws: a shorter text is the beginning of the longer one. Three
/// of them may shorten drafts, which changes the text under a rule that judges drafts as wholes (block verification):
/// max_length, because no model sees more, and stop_tokens and until, because a draft ends there.
struct Limits {
    Index max_new_tokens = 128;        ///< most tokens to write in this call, >= 0
    Index max_length = unlimited;      ///< most tokens of prompt and text together; no model sees more
    std::vector<Token> stop_tokens{};  ///< the text ends after any of these, which stays in it
    /// A predicate that ends the text as RoundLimits::until does, its last token in or out. It is shown the tokens that
    /// a call writes, up to the one in question: all new ones in generate and extend, those of the round in step. It is
    /// asked about drafted tokens as well, so that nothing is drafted past an end, and no row past one is read.
    detail::StopPredicate until{};
    std::uint64_t request = 0;  ///< below 2^32; a new text needs a new request
    Index top_logprobs = 0;     ///< how many of the likeliest tokens, 0 .. 64, to list for an on_token with scores
};

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
    Tally tally;                                 ///< of its rounds

    /// The tokens alone.
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

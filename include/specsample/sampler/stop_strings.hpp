// Stop strings: texts that end a reply, and of which nothing is shown.
//
// A stop string may begin and end inside of tokens, and a tokenizer may write it in many ways, so it is looked for in
// the text. What could be the beginning of one is held back until the text has decided about it.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace stop_strings {

/// A reply that ends before the first stop string, as its reader may see it.
///
///     stop_strings::Reply reply({"\n\n", "User:"}, [&](Token token) { return tokenizer.piece(token); });
///     sampler.generate(prompt, {.until = reply}, [&](Token token) { std::cout << reply.show(token); });
///     std::cout << reply.rest();
///
/// An engine asks ends(tokens) in the `until` of its rounds, and shows the tokens of each round that it keeps.
///
/// @tparam Piece   piece(token) -> the bytes of a token, as a std::string or std::string_view
template <class Piece>
class Reply {
    static constexpr bool gives_text = requires(Piece& piece) { std::string(std::invoke(piece, Token{})); };
    static_assert(gives_text,
                  "specsample::stop_strings::Reply: piece must be callable with a Token and return its text; write "
                  "[&](specsample::Token token) { return tokenizer.piece(token); }");

  public:
    /// @throws   std::invalid_argument for an empty stop string
    Reply(std::vector<std::string> strings, Piece piece) : strings_(std::move(strings)), piece_(std::move(piece)) {
        for (const std::string& string : strings_)
            if (string.empty()) detail::invalid("stop_strings::Reply", "a stop string", "empty", "text");
    }

    /// Tell whether a stop string is complete after the tokens that a call has written: `until` of Limits.
    /// @throws   std::invalid_argument if as many tokens were shown already, so that another reply has not begun
    bool operator()(std::span<const Token> written) const {
        detail::require(written.size() > shown_, "stop_strings::Reply", "the number of tokens written", written.size(),
                        "more than were shown; call begin() for another reply, and ends(tokens) for a round's tokens");
        return ends(written.subspan(shown_));
    }

    /// Tell whether a stop string is complete if these tokens follow the ones that were shown: for `until` of
    /// RoundLimits.
    /// @cost   the search for every string in what was held back and these tokens
    bool ends(std::span<const Token> tokens) const {
        std::string text = held_;
        for (const Token token : tokens) text += text_of(token);
        return has_ended_ || first_in(text) != text.npos;
    }

    /// Add a token, and return what of the reply may be shown now: bytes, valid until the next call. Nothing comes
    /// after a stop string.
    std::string_view show(Token token) {
        ++shown_;
        visible_ = std::exchange(held_, {});
        if (has_ended_) return visible_ = {};
        visible_ += text_of(token);
        const std::size_t end = first_in(visible_);
        has_ended_ = end != visible_.npos;
        if (!has_ended_) held_ = visible_.substr(visible_.size() - undecided(visible_));
        visible_.resize(has_ended_ ? end : visible_.size() - held_.size());
        return visible_;
    }

    /// Return what is held back, for a reply that something else has ended; nothing after a stop string.
    std::string_view rest() { return visible_ = std::exchange(held_, {}); }

    /// Tell whether a stop string has ended the reply.
    bool has_ended() const { return has_ended_; }

    /// Begin another reply.
    void begin() { held_.clear(), shown_ = 0, has_ended_ = false; }

  private:
    std::string text_of(Token token) const { return std::string(std::invoke(piece_, token)); }

    /// Return where the first stop string begins; npos if there is none.
    std::size_t first_in(std::string_view text) const {
        std::size_t first = text.npos;
        for (const std::string& string : strings_) first = std::min(first, text.find(string));
        return first;
    }

    /// Return the length of the longest end of the text that a stop string begins with.
    std::size_t undecided(std::string_view text) const {
        std::size_t longest = 0;
        for (const std::string& string : strings_)
            for (std::size_t size = std::min(text.size(), string.size() - 1); size > longest; --size)
                if (string.starts_with(text.substr(text.size() - size))) longest = size;
        return longest;
    }

    std::vector<std::string> strings_;
    mutable Piece piece_;
    std::string held_{}, visible_{};
    std::size_t shown_ = 0;  ///< tokens
    bool has_ended_ = false;
};

}}}  // namespace specsample::stop_strings

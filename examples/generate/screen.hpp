// Shows rounds on the screen, in the style of the best-known figure of the field.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <specsample/specsample.hpp>

#include "engine/tokenizer.hpp"

namespace colour {
inline constexpr std::string_view accepted = "32", rejected = "31;9", recovered = "34", bonus = "36", none;
}

/// Writes tokens to stdout as they come. Without colours it writes the text alone, so that a pipe gets what a reader
/// should.
class Screen {
  public:
    Screen(const engine::Tokenizer& tokenizer, std::string_view when)
        : tokenizer_(&tokenizer), coloured_(when == "always" || (when == "auto" && wants_colour())) {}

    /// Shows the tokens of the prompt.
    void prompt(std::span<const specsample::Token> tokens) {
        for (const auto token : tokens) write(token, colour::none);
    }

    /// Shows the user's message in place of the form of a chat, which is for the model; `last` is its last token.
    void message(std::string_view text, specsample::Token last) {
        std::printf("%.*s\n\n", static_cast<int>(text.size()), text.data());
        previous_ = last;
    }

    /// Shows a round's tokens. `rejected` is the drafted token that the recovered one replaces, or null.
    void round(const specsample::Round& round, const specsample::Token* rejected) {
        specsample::Index place = 0;
        for (const auto token : round.tokens) {
            const bool is_last = place++ == round.accepted;
            if (is_last && rejected != nullptr && coloured_) paint(piece(*rejected), colour::rejected);
            write(token, !is_last                                         ? colour::accepted
                         : round.last == specsample::LastToken::recovered ? colour::recovered
                                                                          : colour::bonus);
        }
        std::fflush(stdout);
    }

  private:
    /// NO_COLOR as in no-color.org.
    static bool wants_colour() {
        const char* no_color = std::getenv("NO_COLOR");
        return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
    }

    std::string piece(specsample::Token token) const { return tokenizer_->decode(previous_, token); }

    void write(specsample::Token token, std::string_view colour) {
        paint(piece(token), colour);
        previous_ = token;
    }

    void paint(std::string_view text, std::string_view colour) const {
        const bool painted = coloured_ && !colour.empty();
        if (painted) std::printf("\033[%.*sm", static_cast<int>(colour.size()), colour.data());
        std::fwrite(text.data(), 1, text.size(), stdout);
        if (painted) std::fputs("\033[0m", stdout);
    }

    const engine::Tokenizer* tokenizer_;
    bool coloured_;
    specsample::Token previous_ = tokenizer_->begin();
};

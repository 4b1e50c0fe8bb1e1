// Shows a text on the screen as it is written, each round in its colours.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <specsample/specsample.hpp>

#include "llama_cpp/load.hpp"

namespace colour {
inline constexpr std::string_view accepted = "32", rejected = "31;9", recovered = "34", bonus = "36", none;
}

/// The size in bytes of the whole characters of `text`: a token may end within a character.
inline std::size_t whole_characters(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        const std::size_t length = byte < 0x80 ? 1 : byte < 0xC0 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
        if (length > back) return text.size() - back;
        if (length > 0) break;
    }
    return text.size();
}

/// Writes tokens to stdout as they come. Without colours it writes the text alone, so that a pipe gets what a reader
/// should.
class TextScreen {
  public:
    TextScreen(const llama_vocab& vocab, std::string_view when)
        : vocab_(&vocab), coloured_(when == "always" || (when == "auto" && wants_colour())) {}

    void prompt(std::string_view text) {
        paint(text, colour::none);
        std::fflush(stdout);
    }

    /// Shows a round's tokens. `rejected` is the drafted token that the recovered one replaces, or null.
    void round(const specsample::Round& round, const specsample::Token* rejected) {
        specsample::Index place = 0;
        for (const auto token : round.tokens) {
            const bool is_last = place++ == round.accepted;
            if (is_last && rejected != nullptr && coloured_ && begun_.empty()) {
                const std::string text = piece(*vocab_, *rejected);
                paint(std::string_view(text).substr(0, whole_characters(text)), colour::rejected);
            }
            write(token, !is_last                                     ? colour::accepted
                         : round.last == specsample::LastToken::bonus ? colour::bonus
                                                                      : colour::recovered);
        }
        std::fflush(stdout);
    }

    /// Writes the bytes of a character that was never finished.
    void close() {
        paint(begun_, colour::none);
        begun_.clear();
        std::fflush(stdout);
    }

  private:
    /// NO_COLOR as in no-color.org.
    static bool wants_colour() {
        const char* no_color = std::getenv("NO_COLOR");
        return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
    }

    void write(specsample::Token token, std::string_view colour) {
        const std::string text = begun_ + piece(*vocab_, token);
        const std::size_t whole = whole_characters(text);
        begun_ = text.substr(whole);
        paint(std::string_view(text).substr(0, whole), colour);
    }

    void paint(std::string_view text, std::string_view colour) const {
        const bool painted = coloured_ && !colour.empty() && !text.empty();
        if (painted) std::printf("\033[%.*sm", static_cast<int>(colour.size()), colour.data());
        std::fwrite(text.data(), 1, text.size(), stdout);
        if (painted) std::fputs("\033[0m", stdout);
    }

    const llama_vocab* vocab_;
    bool coloured_;
    std::string begun_;  ///< bytes of a character that the next token continues
};

// The command line of generate.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specsample/specsample.hpp>

inline constexpr std::string_view usage =
    R"(usage: generate [PROMPT] [options]

Writes text from a target model, sped along by a draft model. Each round the draft guesses a few
tokens and the target scores them in one pass; the text has exactly the target's distribution.

  --lookahead N     tokens to draft per round, 0 is plain decoding; auto: up to 8, as many as
                    pay by what passes cost on this machine             (4)
  --draft-kind K    model, lookup: what followed before in the text, either: lookup where it
                    finds something, else the model, none               (model)
  --temperature T   0 is greedy                                         (0.8)
  --top-p P         nucleus sampling, in (0, 1]                         (1)
  --seed S          the same seed writes the same text                  (2)
  --max-tokens N    most tokens to write                                (128)
  --compare         decode plainly as well, and compare
  --json            print one JSON object instead of text and table
  --color WHEN      auto, always or never                               (auto)
  --target F        checkpoint: llama2.c version 0, or int8 with row scales
  --draft F         checkpoint of the draft                             (the target, if that is given)
  --tokenizer F     *.merges.u16, or a llama2.c tokenizer
  --help            this text

Colours: green accepted, red and struck rejected, blue recovered, cyan bonus.
)";

/// Where drafts come from.
enum class DraftKind { model, lookup, either, none };

struct Arguments {
    std::string prompt = "Alan Turing theorized that computers would one day become";
    std::filesystem::path target = std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "target_1.8M_int8.bin";
    std::filesystem::path draft = std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "draft_230K_kd_int8.bin";
    std::filesystem::path tokenizer = std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "bpe2048.merges.u16";
    specsample::Index lookahead = 4;
    bool adapts = false;  ///< lookahead is the most, and how many pay is found out
    DraftKind draft_kind = DraftKind::model;
    double temperature = 0.8;
    double top_p = 1;
    std::uint64_t seed = 2;
    specsample::Index max_tokens = 128;
    std::string color = "auto";
    bool compare = false;
    bool json = false;
    bool help = false;
};

/// The value of an option as a number; the whole of it must be one.
template <class Number>
Number number(std::string_view option, std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument(std::string(option) + " is '" + std::string(text) + "', but must be a number");
    return value;
}

inline void set_lookahead(Arguments& arguments, std::string_view text) {
    arguments.adapts = text == "auto";
    arguments.lookahead = arguments.adapts ? 8 : number<specsample::Index>("--lookahead", text);
}

inline DraftKind draft_kind(std::string_view text) {
    if (text == "model") return DraftKind::model;
    if (text == "lookup") return DraftKind::lookup;
    if (text == "either") return DraftKind::either;
    if (text == "none") return DraftKind::none;
    throw std::invalid_argument("--draft-kind is '" + std::string(text) +
                                "', but must be model, lookup, either or none");
}

/// @throws std::invalid_argument naming the argument, what it was and what it must be
inline Arguments parse(std::span<char*> words) {
    Arguments arguments;
    std::optional<std::filesystem::path> target, draft;
    bool has_prompt = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto value = [&]() -> std::string_view {
            if (i + 1 == words.size()) throw std::invalid_argument(std::string(word) + " must be followed by a value");
            return words[++i];
        };
        if (word == "--help") {
            arguments.help = true;
        } else if (word == "--compare") {
            arguments.compare = true;
        } else if (word == "--json") {
            arguments.json = true;
        } else if (word == "--lookahead") {
            set_lookahead(arguments, value());
        } else if (word == "--draft-kind") {
            arguments.draft_kind = draft_kind(value());
        } else if (word == "--temperature") {
            arguments.temperature = number<double>(word, value());
        } else if (word == "--top-p") {
            arguments.top_p = number<double>(word, value());
        } else if (word == "--seed") {
            arguments.seed = number<std::uint64_t>(word, value());
        } else if (word == "--max-tokens") {
            arguments.max_tokens = number<specsample::Index>(word, value());
        } else if (word == "--color") {
            arguments.color = value();
        } else if (word == "--target") {
            target = value();
        } else if (word == "--draft") {
            draft = value();
        } else if (word == "--tokenizer") {
            arguments.tokenizer = value();
        } else if (word.starts_with("--")) {
            throw std::invalid_argument("there is no option " + std::string(word) + "; see --help");
        } else if (has_prompt) {
            throw std::invalid_argument("there is more than one prompt: put it in quotes");
        } else {
            arguments.prompt = word;
            has_prompt = true;
        }
    }
    if (arguments.color != "auto" && arguments.color != "always" && arguments.color != "never")
        throw std::invalid_argument("--color is '" + arguments.color + "', but must be auto, always or never");
    const auto require_count = [](std::string_view option, specsample::Index value) {
        if (value < 0)
            throw std::invalid_argument(std::string(option) + " is " + std::to_string(value) +
                                        ", but must be at least 0");
    };
    require_count("--lookahead", arguments.lookahead);
    require_count("--max-tokens", arguments.max_tokens);
    if (arguments.draft_kind == DraftKind::none) set_lookahead(arguments, "0");
    if (target) arguments.target = arguments.draft = *target;
    if (draft) arguments.draft = *draft;
    return arguments;
}

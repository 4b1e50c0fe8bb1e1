// The command line of generate.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

#include "generate/rules.hpp"

inline constexpr std::string_view usage =
    R"(usage: generate [PROMPT] [options]

Writes text from a target model, sped along by a draft model. Each round the draft guesses a few
tokens and the target scores them in one pass; the text has exactly the target's distribution.

  --lookahead N     tokens to draft per round, 0 is plain decoding; auto: up to 8, as many as
                    pay by what rounds turn out to cost, at temperature 0 with eagle in a
                    tree; a seed then repeats a text only at temperature 0 and with the rules
                    gumbel and match    (4)
  --drafter K       where drafts come from                              (model)
                      auto       lookup, and what is given by --heads (a file for eagle) or
                                 --draft: with --lookahead auto who promises more, else lookup
                                 where it finds something
                      model      another model
                      lookup     what followed before in the text
                      either     lookup where it finds something, else the model
                      self       the target's first layers, from its own cache
                      pruned     a copy of the target with fewer layers
                      quantised  an int8 copy of a float32 target
                      heads      Medusa heads on the target
                      mtp        a multi-token-prediction module on the target
                      eagle      a block that continues the target's states
                      none
  --draft-layers N  layers of self and pruned drafts                    (half of the target's)
  --tree N,N,...    draft a tree with so many children at each depth, not a chain
  --rule R          token, block (chains), traversal, gumbel or match   (token)
  --temperature T   0 is greedy                                         (0.8)
  --top-p P         nucleus sampling, in (0, 1]                         (1)
  --seed S          the same seed writes the same text                  (2)
  --max-tokens N    most tokens to write                                (128)
  --compare         decode plainly as well, and compare
  --json            print one JSON object instead of text and table
  --color WHEN      auto, always or never                               (auto)
  --threads N       threads for the matrix products                     (1)
  --page N          keep the cache in pages of so many positions        (one that holds all)
  --chat            the prompt is a message, in the form of the model's chats
  --target F        checkpoint: llama2.c version 0, int8 with row scales, or codes in groups
  --draft F         checkpoint of the draft                             (the target, if that is given)
  --heads F         heads, module or block on the target                (those of the shipped target)
  --tokenizer F     *.merges.u16, *.sptk, or a llama2.c tokenizer
  -h, --help        this text

A value may follow its option or an equals sign: --seed 3, --seed=3.

Colours: green accepted, red and struck rejected, blue recovered, cyan bonus.
)";

/// The sources of drafts.
enum class DraftKind { automatic, model, lookup, either, self, pruned, quantised, heads, mtp, eagle, none };

inline constexpr std::pair<std::string_view, DraftKind> draft_kinds[]{
    {"auto", DraftKind::automatic},      {"model", DraftKind::model}, {"lookup", DraftKind::lookup},
    {"either", DraftKind::either},       {"self", DraftKind::self},   {"pruned", DraftKind::pruned},
    {"quantised", DraftKind::quantised}, {"heads", DraftKind::heads}, {"mtp", DraftKind::mtp},
    {"eagle", DraftKind::eagle},         {"none", DraftKind::none}};

inline std::filesystem::path shipped(const char* file) { return std::filesystem::path(SPECSAMPLE_MODELS_DIR) / file; }

struct Arguments {
    std::string prompt = "Alan Turing theorized that computers would one day become";
    std::filesystem::path target = shipped("target_1.8M_int8.bin");
    std::filesystem::path draft = shipped("draft_230K_kd_int8.bin");
    std::filesystem::path tokenizer = shipped("bpe2048.merges.u16");
    std::filesystem::path heads{};  ///< empty: the shipped ones
    specsample::Index lookahead = 4;
    bool adapts = false;  ///< lookahead is an upper limit, and its value is chosen by measured costs
    DraftKind draft_kind = DraftKind::model;
    specsample::Index draft_layers = 0;     ///< 0: half of the target's
    std::vector<specsample::Index> tree{};  ///< children at each depth; empty: a chain
    RuleKind rule = RuleKind::token;
    double temperature = 0.8;
    double top_p = 1;
    std::uint64_t seed = 2;
    specsample::Index max_tokens = 128;
    specsample::Index threads = 1;
    specsample::Index page = 0;  ///< 0: contiguous
    std::string color = "auto";
    bool chat = false;
    bool compare = false;
    bool json = false;
    bool help = false;
};

/// The value of an option as a number; all of it must be one.
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

/// The value that a list gives to a name.
template <class Value, std::size_t count>
Value named(std::string_view option, std::string_view text, const std::pair<std::string_view, Value> (&names)[count]) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        if (names[i].first == text) return names[i].second;
        all += i == 0 ? "" : i + 1 == count ? " or " : ", ";
        all += names[i].first;
    }
    throw std::invalid_argument(std::string(option) + " is '" + std::string(text) + "', but must be " + all);
}

/// Numbers between commas, each at least 1.
inline std::vector<specsample::Index> branchings(std::string_view option, std::string_view text) {
    std::vector<specsample::Index> result;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        result.push_back(number<specsample::Index>(option, text.substr(begin, end - begin)));
        if (result.back() < 1)
            throw std::invalid_argument(std::string(option) + " has a depth of " + std::to_string(result.back()) +
                                        " children, but each must have at least 1");
        begin = end + 1;
    }
    return result;
}

inline void require_at_least(specsample::Index least, std::string_view option, specsample::Index value) {
    if (value < least)
        throw std::invalid_argument(std::string(option) + " is " + std::to_string(value) + ", but must be at least " +
                                    std::to_string(least));
}

/// A tree sets the lookahead, and needs a source of several tokens per position and a rule for trees.
inline void check_tree(Arguments& arguments) {
    if (arguments.tree.empty()) return;
    const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("--tree ") + why); };
    if (arguments.adapts) refuse("has a depth of its own: leave out --lookahead auto");
    if (arguments.rule == RuleKind::block) refuse("is not for --rule block, which judges chains; take traversal");
    if (arguments.draft_kind == DraftKind::lookup || arguments.draft_kind == DraftKind::none)
        refuse("is not for --drafter lookup and none, which know no alternatives");
    arguments.lookahead = std::ssize(arguments.tree);
}

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char*> words) {
    Arguments arguments;
    std::optional<std::filesystem::path> target, draft;
    bool has_prompt = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view word = words[i];
        std::optional<std::string_view> given;  // after an equals sign
        if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
            given = word.substr(equals + 1);
            word = word.substr(0, equals);
        }
        const auto value = [&]() -> std::string_view {
            if (given) return *std::exchange(given, std::nullopt);
            if (i + 1 == words.size()) throw std::invalid_argument(std::string(word) + " must be followed by a value");
            return words[++i];
        };
        if (word == "--help" || word == "-h") {
            arguments.help = true;
        } else if (word == "--compare") {
            arguments.compare = true;
        } else if (word == "--chat") {
            arguments.chat = true;
        } else if (word == "--json") {
            arguments.json = true;
        } else if (word == "--lookahead") {
            set_lookahead(arguments, value());
        } else if (word == "--drafter") {
            arguments.draft_kind = named(word, value(), draft_kinds);
        } else if (word == "--draft-layers") {
            arguments.draft_layers = number<specsample::Index>(word, value());
            require_at_least(1, word, arguments.draft_layers);
        } else if (word == "--rule") {
            arguments.rule = named(word, value(), rule_kinds);
        } else if (word == "--tree") {
            arguments.tree = branchings(word, value());
        } else if (word == "--threads") {
            arguments.threads = number<specsample::Index>(word, value());
            require_at_least(1, word, arguments.threads);
        } else if (word == "--page") {
            arguments.page = number<specsample::Index>(word, value());
            require_at_least(1, word, arguments.page);
        } else if (word == "--heads") {
            arguments.heads = value();
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
        if (given) throw std::invalid_argument(std::string(word) + " takes no value, but was given " + words[i]);
    }
    if (arguments.color != "auto" && arguments.color != "always" && arguments.color != "never")
        throw std::invalid_argument("--color is '" + arguments.color + "', but must be auto, always or never");
    require_at_least(0, "--lookahead", arguments.lookahead);
    require_at_least(0, "--max-tokens", arguments.max_tokens);
    check_tree(arguments);
    if (arguments.draft_kind == DraftKind::none) set_lookahead(arguments, "0");
    if (target) arguments.target = arguments.draft = *target;
    if (draft) arguments.draft = *draft;
    return arguments;
}

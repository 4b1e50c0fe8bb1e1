// The command line of generate.
#pragma once

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

#include "../arguments.hpp"
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
                      ssm        a state-space model, whose state cannot be cut
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
  --draft F         checkpoint of the draft                             (the target, if that is given;
                                                                        of ssm the shipped one)
  --heads F         heads, module or block on the target                (those of the shipped target)
  --tokenizer F     *.merges.u16, *.sptk, or a llama2.c tokenizer
  -h, --help        this text

A value may follow its option or an equals sign: --seed 3, --seed=3.

Colours: green accepted, red and struck rejected, blue recovered, cyan bonus.
)";

/// The sources of drafts.
enum class DraftKind { automatic, model, lookup, either, self, pruned, quantised, heads, mtp, ssm, eagle, none };

inline constexpr std::pair<std::string_view, DraftKind> draft_kinds[]{
    {"auto", DraftKind::automatic},
    {"model", DraftKind::model},
    {"lookup", DraftKind::lookup},
    {"either", DraftKind::either},
    {"self", DraftKind::self},
    {"pruned", DraftKind::pruned},
    {"quantised", DraftKind::quantised},
    {"heads", DraftKind::heads},
    {"mtp", DraftKind::mtp},
    {"ssm", DraftKind::ssm},
    {"eagle", DraftKind::eagle},
    {"none", DraftKind::none},
};

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
    bool has_prompt = false;                                         ///< one was given
    std::optional<std::filesystem::path> given_target, given_draft;  ///< those given, if any
};

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

inline void set_prompt(Arguments& arguments, std::string_view prompt) {
    if (arguments.has_prompt) throw std::invalid_argument("there is more than one prompt: put it in quotes");
    arguments.prompt = prompt;
    arguments.has_prompt = true;
}

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char* const> words) {
    using namespace command_line;
    using A = Arguments;
    static constexpr Option<Arguments> options[]{
        {"-h --help", flag<&A::help>},
        {"--compare", flag<&A::compare>},
        {"--chat", flag<&A::chat>},
        {"--json", flag<&A::json>},
        {"--lookahead", set_lookahead},
        {"--drafter", choose<&A::draft_kind, draft_kinds>},
        {"--draft-layers", set<&A::draft_layers, 1>},
        {"--rule", choose<&A::rule, rule_kinds>},
        {"--tree", set_tree},
        {"--threads", set<&A::threads, 1>},
        {"--page", set<&A::page, 1>},
        {"--heads", set<&A::heads>},
        {"--temperature", set<&A::temperature>},
        {"--top-p", set<&A::top_p>},
        {"--seed", set<&A::seed>},
        {"--max-tokens", set<&A::max_tokens, 0>},
        {"--color", choose<&A::color, colors>},
        {"--target", set<&A::given_target>},
        {"--draft", set<&A::given_draft>},
        {"--tokenizer", set<&A::tokenizer>},
        {"", [](Arguments& arguments, auto, std::string_view prompt) { set_prompt(arguments, prompt); }}};
    Arguments arguments = command_line::parse(words, options);
    check_tree(arguments);
    if (arguments.draft_kind == DraftKind::none) {
        arguments.lookahead = 0;
        arguments.adapts = false;
    }
    if (arguments.given_target) arguments.target = arguments.draft = *arguments.given_target;
    if (arguments.given_draft) arguments.draft = *arguments.given_draft;
    return arguments;
}

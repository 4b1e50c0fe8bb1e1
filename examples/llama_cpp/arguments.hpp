// The command line of llama_speculate, with llama.cpp's names where it has one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specsample/specsample.hpp>

#include "../arguments.hpp"
#include "generate/rules.hpp"

inline constexpr std::string_view usage =
    R"(usage: llama_speculate -m MODEL [-md MODEL | --lookup] -p PROMPT [options]

Continues a prompt with a model of llama.cpp, sped along by drafts: a few tokens are guessed, the
model scores them in one pass, and a rule decides which to keep, so that the text has exactly the
distribution of the model alone. Prompts are taken as they are; a chat template is yours to write into them.

  -m,  --model F          model to write with, a GGUF file
  -md, --model-draft F    model to draft with, of the same vocabulary (also --draft-model)
       --lookup           draft what followed before in the text, without a model
  -p,  --prompt TEXT      \n, \t, \r, \", \' and \\ are escapes, unless --no-escape
  -f,  --file F           prompt from a file, taken as it is but for a last line break
  -n,  --predict N        most tokens to write, -1: as many as fit   (-1)
  -c,  --ctx-size N       tokens of prompt and text, 0: the model's  (0)
  -t,  --threads N                                                   (all)
       --ignore-eos       write on after the end of the text

  -s,  --seed S           the same seed writes the same text, -1: a random one   (-1)
       --temp T           0 is greedy                                (0.8)
       --top-k N          0: all                                     (40)
       --top-p P          1: all                                     (0.95)
       --min-p P          0: all                                     (0.05)
       --typical P        1: all                                     (1)
       --repeat-penalty R, --presence-penalty R, --frequency-penalty R   (1, 0, 0)
       --repeat-last-n N  tokens that penalties look at, 0: none, -1: all   (64)

       --lookahead N      tokens to draft per round (also --draft-max), 0 is plain decoding;
                          auto: up to 8, as many as pay here         (4)
       --tree N,N,...     draft a tree with so many children at each depth, not a chain
       --rule R           token, block (chains), traversal, gumbel or match   (token)
  -np, --parallel N       write N texts at once: of the prompts in -f's lines, or of one prompt with
                          seeds S, S + 1 and so on; --compare writes them one by one as well   (1)
       --compare          decode plainly as well, and by llama.cpp's own rule on such drafts
       --json             print one JSON object instead of text and table
       --color WHEN       auto, always or never                      (auto)
  -h,  --help             this text

Colours: green accepted, red and struck rejected, blue recovered, cyan bonus.
)";

/// llama.cpp's sampling parameters, with its defaults.
struct Sampling {
    double temperature = 0.8;
    specsample::Index top_k = 40;
    double top_p = 0.95;
    double min_p = 0.05;
    double typical_p = 1;
    double repeat_penalty = 1;
    double presence_penalty = 0;
    double frequency_penalty = 0;
    specsample::Index repeat_last_n = 64;
    bool ignore_eos = false;
};

struct Arguments : Sampling {
    std::string model{};
    std::string draft_model{};
    bool looks_up = false;
    std::optional<std::string> prompt{};
    std::string file{};
    bool escapes = true;
    specsample::Index predict = -1;
    specsample::Index context = 0;
    specsample::Index threads = 0;
    std::int64_t seed = -1;
    specsample::Index lookahead = 4;
    bool adapts = false;                    ///< lookahead is an upper limit, and its value is chosen by measured costs
    std::vector<specsample::Index> tree{};  ///< children at each depth; empty: a chain
    RuleKind rule = RuleKind::token;
    specsample::Index parallel = 1;  ///< texts that are written at once
    std::string color = "auto";
    bool compare = false;
    bool json = false;
    bool help = false;

    /// The prompts of all texts: with `parallel`, one per line of the file, or the same one for each.
    std::vector<std::string> prompts() const;

    bool drafts() const { return looks_up || !draft_model.empty(); }
};

/// Replaces \n and other escapes as llama.cpp does; a backslash before any other character stays.
inline std::string unescaped(std::string_view text) {
    constexpr std::string_view written = "ntr\"'\\", meant = "\n\t\r\"'\\";
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t which =
            text[i] == '\\' && i + 1 < text.size() ? written.find(text[i + 1]) : std::string_view::npos;
        result += which == std::string_view::npos ? text[i] : meant[which];
        if (which != std::string_view::npos) ++i;
    }
    return result;
}

inline std::vector<std::string> Arguments::prompts() const {
    if (parallel == 1 || file.empty()) return std::vector(static_cast<std::size_t>(parallel), *prompt);
    std::vector<std::string> lines;
    std::istringstream stream(*prompt);
    for (std::string line; std::getline(stream, line);) lines.push_back(escapes ? unescaped(line) : line);
    if (lines.empty()) throw std::invalid_argument("there is no prompt in " + file);
    return lines;
}

/// Removes the line break that an editor leaves at the end.
inline std::string contents(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream || std::filesystem::is_directory(path)) throw std::runtime_error("cannot read the prompt in " + path);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

/// Refuses options that do not go together.
inline void check(const Arguments& arguments) {
    const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
    if (arguments.model.empty()) refuse("-m must name a model; see --help");
    if (arguments.prompt.has_value() != arguments.file.empty()) refuse("there must be one prompt, by -p or by -f");
    if (arguments.looks_up && !arguments.draft_model.empty()) refuse("there must be one draft, by -md or by --lookup");
    if (arguments.parallel > 1) {
        if (!arguments.tree.empty()) refuse("--parallel is for chains: leave out --tree");
        if (arguments.adapts) refuse("--parallel needs a --lookahead that is a number");
        if (arguments.json) refuse("--parallel prints text and a table: leave out --json");
    }
    if (arguments.tree.empty()) return;
    if (arguments.draft_model.empty()) refuse("--tree needs a --model-draft, which knows alternatives");
    if (arguments.adapts) refuse("--tree has a depth of its own: leave out --lookahead auto");
    if (arguments.rule == RuleKind::block) refuse("--tree is not for --rule block, which judges chains");
}

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char* const> words) {
    using namespace command_line;
    using A = Arguments;
    static constexpr Option<Arguments> options[]{
        {"-m --model", set<&A::model>},
        {"-md --model-draft --draft-model --spec-draft-model", set<&A::draft_model>},
        {"--lookup", flag<&A::looks_up>},
        {"-p --prompt", set<&A::prompt>},
        {"-f --file", set<&A::file>},
        {"--no-escape", flag<&A::escapes, false>},
        {"-n --predict --n-predict", set<&A::predict, -1>},
        {"-c --ctx-size", set<&A::context, 0>},
        {"-t --threads", set<&A::threads, 0>},
        {"--ignore-eos", flag<&A::ignore_eos>},
        {"-s --seed", set<&A::seed, -1>},
        {"--temp --temperature", set<&A::temperature>},
        {"--top-k", set<&A::top_k>},
        {"--top-p", set<&A::top_p>},
        {"--min-p", set<&A::min_p>},
        {"--typical --typical-p", set<&A::typical_p>},
        {"--repeat-penalty", set<&A::repeat_penalty>},
        {"--presence-penalty", set<&A::presence_penalty>},
        {"--frequency-penalty", set<&A::frequency_penalty>},
        {"--repeat-last-n", set<&A::repeat_last_n, -1>},
        {"--lookahead --draft-max --spec-draft-n-max", set_lookahead},
        {"--tree", set_tree},
        {"--rule", choose<&A::rule, rule_kinds>},
        {"-np --parallel", set<&A::parallel, 1>},
        {"--compare", flag<&A::compare>},
        {"--json", flag<&A::json>},
        {"--color", choose<&A::color, colors>},
        {"-h --help", flag<&A::help>}};
    Arguments arguments = command_line::parse(words, options);
    if (arguments.help) return arguments;
    check(arguments);
    if (!arguments.tree.empty()) arguments.lookahead = std::ssize(arguments.tree);
    if (!arguments.drafts()) {
        arguments.lookahead = 0;
        arguments.adapts = false;
    }
    if (arguments.prompt && arguments.escapes) arguments.prompt = unescaped(*arguments.prompt);
    if (!arguments.prompt) arguments.prompt = contents(arguments.file);
    return arguments;
}

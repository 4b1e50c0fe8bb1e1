// The command line of llama_speculate, with llama.cpp's names where it has one.
#pragma once

#include <algorithm>
#include <charconv>
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
#include <system_error>
#include <type_traits>
#include <vector>

#include <specsample/specsample.hpp>

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

/// The value of an option as a number; all of it must be one.
template <class Number>
Number number(std::string_view option, std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument(std::string(option) + " is '" + std::string(text) + "', but must be a number");
    return value;
}

inline void require_at_least(specsample::Index least, std::string_view option, specsample::Index value) {
    if (value < least)
        throw std::invalid_argument(std::string(option) + " is " + std::to_string(value) + ", but must be at least " +
                                    std::to_string(least));
}

/// An option, and the function that stores its value, or sets a flag.
struct Option {
    std::string_view names;  ///< separated by spaces
    bool has_value;
    void (*take)(Arguments&, std::string_view option, std::string_view value);

    bool is(std::string_view word) const {
        for (std::size_t begin = 0; begin < names.size();) {
            const std::size_t end = std::min(names.find(' ', begin), names.size());
            if (names.substr(begin, end - begin) == word) return true;
            begin = end + 1;
        }
        return false;
    }
};

/// Stores the value in this member, as a number or as it is.
template <auto member>
void set(Arguments& arguments, std::string_view option, std::string_view value) {
    using Member = std::remove_reference_t<decltype(arguments.*member)>;
    if constexpr (std::is_arithmetic_v<Member>) {
        arguments.*member = number<Member>(option, value);
    } else {
        arguments.*member = value;
    }
}

template <auto member, bool value = true>
void flag(Arguments& arguments, std::string_view, std::string_view) {
    arguments.*member = value;
}

inline void set_lookahead(Arguments& arguments, std::string_view option, std::string_view value) {
    arguments.adapts = value == "auto";
    arguments.lookahead = arguments.adapts ? 8 : number<specsample::Index>(option, value);
}

inline void set_tree(Arguments& arguments, std::string_view option, std::string_view value) {
    arguments.tree.clear();
    for (std::size_t begin = 0; begin <= value.size();) {
        const std::size_t end = std::min(value.find(',', begin), value.size());
        arguments.tree.push_back(number<specsample::Index>(option, value.substr(begin, end - begin)));
        require_at_least(1, "a number of children of --tree", arguments.tree.back());
        begin = end + 1;
    }
}

inline void set_rule(Arguments& arguments, std::string_view option, std::string_view value) {
    for (const auto& [name, kind] : rule_kinds)
        if (name == value) {
            arguments.rule = kind;
            return;
        }
    throw std::invalid_argument(std::string(option) + " is '" + std::string(value) +
                                "', but must be token, block, traversal, gumbel or match");
}

inline constexpr Option known_options[]{
    {"-m --model", true, set<&Arguments::model>},
    {"-md --model-draft --draft-model --spec-draft-model", true, set<&Arguments::draft_model>},
    {"--lookup", false, flag<&Arguments::looks_up>},
    {"-p --prompt", true, set<&Arguments::prompt>},
    {"-f --file", true, set<&Arguments::file>},
    {"--no-escape", false, flag<&Arguments::escapes, false>},
    {"-n --predict --n-predict", true, set<&Arguments::predict>},
    {"-c --ctx-size", true, set<&Arguments::context>},
    {"-t --threads", true, set<&Arguments::threads>},
    {"--ignore-eos", false, flag<&Arguments::ignore_eos>},
    {"-s --seed", true, set<&Arguments::seed>},
    {"--temp --temperature", true, set<&Arguments::temperature>},
    {"--top-k", true, set<&Arguments::top_k>},
    {"--top-p", true, set<&Arguments::top_p>},
    {"--min-p", true, set<&Arguments::min_p>},
    {"--typical --typical-p", true, set<&Arguments::typical_p>},
    {"--repeat-penalty", true, set<&Arguments::repeat_penalty>},
    {"--presence-penalty", true, set<&Arguments::presence_penalty>},
    {"--frequency-penalty", true, set<&Arguments::frequency_penalty>},
    {"--repeat-last-n", true, set<&Arguments::repeat_last_n>},
    {"--lookahead --draft-max --spec-draft-n-max", true, set_lookahead},
    {"--tree", true, set_tree},
    {"--rule", true, set_rule},
    {"-np --parallel", true, set<&Arguments::parallel>},
    {"--compare", false, flag<&Arguments::compare>},
    {"--json", false, flag<&Arguments::json>},
    {"--color", true, set<&Arguments::color>},
    {"-h --help", false, flag<&Arguments::help>}};

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
    if (arguments.color != "auto" && arguments.color != "always" && arguments.color != "never")
        refuse("--color must be auto, always or never");
    require_at_least(-1, "--predict", arguments.predict);
    require_at_least(0, "--ctx-size", arguments.context);
    require_at_least(0, "--threads", arguments.threads);
    require_at_least(-1, "--seed", arguments.seed);
    require_at_least(-1, "--repeat-last-n", arguments.repeat_last_n);
    require_at_least(0, "--lookahead", arguments.lookahead);
    require_at_least(1, "--parallel", arguments.parallel);
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
inline Arguments parse(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto option = std::ranges::find_if(known_options, [&](const Option& each) { return each.is(word); });
        if (option == std::end(known_options))
            throw std::invalid_argument("there is no option " + std::string(word) + "; see --help");
        if (option->has_value && ++i == words.size())
            throw std::invalid_argument(std::string(word) + " must be followed by a value");
        option->take(arguments, word, words[i]);
    }
    if (arguments.help) return arguments;
    check(arguments);
    if (!arguments.tree.empty()) arguments.lookahead = std::ssize(arguments.tree);
    if (!arguments.drafts()) set_lookahead(arguments, "--lookahead", "0");
    if (arguments.prompt && arguments.escapes) arguments.prompt = unescaped(*arguments.prompt);
    if (!arguments.prompt) arguments.prompt = contents(arguments.file);
    return arguments;
}

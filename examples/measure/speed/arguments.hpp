// The command line of speed.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specsample/specsample.hpp>

#include "generate/arguments.hpp"

namespace speed {

inline constexpr std::string_view usage =
    R"(usage: speed --target F --tokenizer F [options]

Writes the same prompts with every drafter, in turns, and prints how many times as fast as plain decoding each one is.

  --heads F          a block for --drafter eagle; without it lookup and the first layers alone are measured
  --prompts F        JSON lines with a "prompt" each, as HumanEval has them, in place of the code prompts here
  --max-tokens N     tokens of a text                                   (256)
  --runs N           times that everything is written                   (5)
  --every N          use every Nth prompt                               (1)
  --seeds N          rounds for the distribution of the first token     (1000)
  --temperatures L   numbers between commas                             (0,0.8,1)
  --threads N                                                           (2)
  --chart F          an SVG of the times
  --other COMMAND    a program to measure in turns at temperature 0: called with the number of tokens
                     to write and the prompt's ids, it prints the seconds and the ids that it wrote
)";

struct Arguments : ::Arguments {
    std::filesystem::path prompts{}, chart{};
    std::string other{};
    std::vector<double> temperatures{0, 0.8, 1};
    int runs = 5;
    int seeds = 1000;
    specsample::Index every = 1;
    std::optional<std::filesystem::path> given_tokenizer;  ///< the one given, if any

    Arguments() {
        max_tokens = 256;
        threads = 2;
    }
};

inline Arguments parse(std::span<char* const> words) {
    using namespace command_line;
    using A = Arguments;
    static constexpr Option<Arguments> options[]{{"-h --help", flag<&A::help>},
                                                 {"--target", set<&A::given_target>},
                                                 {"--tokenizer", set<&A::given_tokenizer>},
                                                 {"--heads", set<&A::heads>},
                                                 {"--prompts", set<&A::prompts>},
                                                 {"--chart", set<&A::chart>},
                                                 {"--other", set<&A::other>},
                                                 {"--max-tokens", set<&A::max_tokens, 1>},
                                                 {"--runs", set<&A::runs, 1>},
                                                 {"--seeds", set<&A::seeds, 1>},
                                                 {"--every", set<&A::every, 1>},
                                                 {"--threads", set<&A::threads, 1>},
                                                 {"--temperatures", set<&A::temperatures>}};
    Arguments arguments = command_line::parse(words, options);
    if (arguments.given_target.has_value() != arguments.given_tokenizer.has_value() && !arguments.help)
        throw std::invalid_argument("--target and --tokenizer come together; see --help");
    if (arguments.given_target) arguments.target = arguments.draft = *arguments.given_target;
    if (arguments.given_tokenizer) arguments.tokenizer = *arguments.given_tokenizer;
    return arguments;
}

}  // namespace speed

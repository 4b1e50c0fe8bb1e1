// The command line of write_texts.
#pragma once

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "../arguments.hpp"

inline constexpr std::string_view writer_usage =
    R"(usage: write_texts --target FILE --requests FILE --out FILE [options]

Writes one text for each line of the requests, 16 at a time. A line is

  TEMPERATURE ; TOKENS                 a prompt, and the temperature of what follows it
  TEMPERATURE ; TOKENS ; TOKENS        the model first invents a message behind the first tokens, at temperature 1 and
                                       of at most --message tokens; the others follow it, then the text

  --length N     tokens of a text at most, with the prompt    (256)
  --message N    tokens of an invented message at most        (64)
  --end ID       the token that ends a message or a text      (2)
  --top N        most likely next tokens to store             (32)
  --threads N                                                 (2)
  --seed N                                                    (0)

The output begins with int32 width of a token's states together, int32 N of --top. Then, for each text: int32 number of
tokens n, int32 tokens of the prompt (with what was invented), float32 temperature; int32 tokens [n]; float16 states
[n, width], the residual stream after a third and two thirds of the layers, each divided by its
root mean square, and the classifier's inputs; int32 ids [n, top]
and float16 log-probabilities [n, top] of the next token, the most likely first.
)";

struct WriterArguments {
    std::filesystem::path target, requests, out;
    int length = 256;
    int message = 64;
    int end = 2;
    int top = 32;
    int threads = 2;
    int seed = 0;
    bool help = false;
};

inline WriterArguments parse_writer(std::span<char* const> words) {
    using namespace command_line;
    using A = WriterArguments;
    static constexpr Option<WriterArguments> options[]{
        {"-h --help", flag<&A::help>}, {"--target", set<&A::target>},    {"--requests", set<&A::requests>},
        {"--out", set<&A::out>},       {"--length", set<&A::length, 2>}, {"--message", set<&A::message, 1>},
        {"--end", set<&A::end, 0>},    {"--top", set<&A::top, 1>},       {"--threads", set<&A::threads, 1>},
        {"--seed", set<&A::seed, 0>}};
    WriterArguments arguments = command_line::parse(words, options);
    if (arguments.help) return arguments;
    for (const auto& [path, name] :
         {std::pair{&arguments.target, "--target"}, {&arguments.requests, "--requests"}, {&arguments.out, "--out"}}) {
        if (path->empty()) throw std::invalid_argument(std::string(name) + " is missing; see --help");
    }
    return arguments;
}

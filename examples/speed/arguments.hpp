// The command line of speed.
#pragma once

#include <filesystem>
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

struct Arguments {
    ::Arguments base{};
    std::filesystem::path prompts{}, chart{};
    std::string other{};
    std::vector<double> temperatures{0, 0.8, 1};
    int runs = 5;
    int seeds = 1000;
    std::size_t every = 1;
    bool help = false;
};

inline Arguments parse(std::span<char* const> words) {
    Arguments result;
    result.base.max_tokens = 256;
    result.base.threads = 2;
    bool has_target = false, has_tokenizer = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--help") {
            result.help = true;
            return result;
        }
        const auto value = [&]() -> std::string_view {
            if (i + 1 == words.size()) throw std::invalid_argument(std::string(word) + " must be followed by a value");
            return words[++i];
        };
        const auto count = [&] {
            const auto n = number<specsample::Index>(word, value());
            require_at_least(1, word, n);
            return n;
        };
        if (word == "--target") {
            result.base.target = result.base.draft = value();
            has_target = true;
        } else if (word == "--tokenizer") {
            result.base.tokenizer = value();
            has_tokenizer = true;
        } else if (word == "--heads") {
            result.base.heads = value();
        } else if (word == "--prompts") {
            result.prompts = value();
        } else if (word == "--chart") {
            result.chart = value();
        } else if (word == "--other") {
            result.other = value();
        } else if (word == "--max-tokens") {
            result.base.max_tokens = count();
        } else if (word == "--runs") {
            result.runs = static_cast<int>(count());
        } else if (word == "--seeds") {
            result.seeds = static_cast<int>(count());
        } else if (word == "--every") {
            result.every = static_cast<std::size_t>(count());
        } else if (word == "--threads") {
            result.base.threads = count();
        } else if (word == "--temperatures") {
            result.temperatures.clear();
            for (std::string_view list = value(); !list.empty();) {
                const auto end = std::min(list.find(','), list.size());
                result.temperatures.push_back(number<double>(word, list.substr(0, end)));
                list.remove_prefix(std::min(end + 1, list.size()));
            }
        } else {
            throw std::invalid_argument("there is no option " + std::string(word) + "; see --help");
        }
    }
    if (has_target != has_tokenizer) throw std::invalid_argument("--target and --tokenizer come together; see --help");
    return result;
}

}  // namespace speed

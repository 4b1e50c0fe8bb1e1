// The command line of generate_mpi.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "generate/arguments.hpp"

namespace mpi {

inline constexpr std::string_view usage =
    R"(usage: mpirun -n RANKS generate_mpi [PROMPT] [options]

Writes texts with a target model whose head is split over the ranks, and checks that they are those
of the whole model.

  --max-tokens N    most tokens to write                                (128)
  --lookahead N     tokens to draft per round                           (4)
  --seed S          the same seed writes the same text                  (2)
  --measure         no models: rounds on large vocabularies, beside gathering their rows
  --help            this text
)";

struct Arguments {
    std::string prompt = "Alan Turing theorized that computers would one day become";
    specsample::Index max_tokens = 128;
    specsample::Index lookahead = 4;
    std::uint64_t seed = 2;
    bool measure = false;
    bool help = false;
};

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto value = [&]() -> std::string_view {
            if (i + 1 == words.size()) throw std::invalid_argument(std::string(word) + " must be followed by a value");
            return words[++i];
        };
        if (word == "--help") {
            arguments.help = true;
        } else if (word == "--measure") {
            arguments.measure = true;
        } else if (word == "--max-tokens") {
            arguments.max_tokens = number<specsample::Index>(word, value());
        } else if (word == "--lookahead") {
            arguments.lookahead = number<specsample::Index>(word, value());
        } else if (word == "--seed") {
            arguments.seed = number<std::uint64_t>(word, value());
        } else if (word.starts_with("--")) {
            throw std::invalid_argument("there is no option " + std::string(word) + "; see --help");
        } else {
            arguments.prompt = word;
        }
    }
    require_at_least(1, "--max-tokens", arguments.max_tokens);
    require_at_least(0, "--lookahead", arguments.lookahead);
    return arguments;
}

}  // namespace mpi

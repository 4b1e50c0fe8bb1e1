// The command line of generate_mpi.
#pragma once

#include <cstdint>
#include <span>
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
inline Arguments parse(std::span<char* const> words) {
    using namespace command_line;
    using A = Arguments;
    static constexpr Option<Arguments> options[]{{"-h --help", flag<&A::help>},
                                                 {"--measure", flag<&A::measure>},
                                                 {"--max-tokens", set<&A::max_tokens, 1>},
                                                 {"--lookahead", set<&A::lookahead, 0>},
                                                 {"--seed", set<&A::seed>},
                                                 {"", set<&A::prompt>}};
    return command_line::parse(words, options);
}

}  // namespace mpi

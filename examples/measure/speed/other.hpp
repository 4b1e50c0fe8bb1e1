// Another program that writes texts, to be measured in turns with the engine.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <specsample/specsample.hpp>

namespace speed {

struct Written {
    double seconds = 0;  ///< without the prompt
    std::vector<specsample::Token> tokens{};
};

/// Called as COMMAND TOKENS ID ID ..., it writes so many tokens behind the ids greedily, and prints the seconds that
/// this took and the tokens' ids.
class Other {
  public:
    explicit Other(std::string command) : command_(std::move(command)) {}

    /// @throws std::runtime_error if the program fails or prints something else
    Written write(std::span<const specsample::Token> prompt, specsample::Index tokens) const {
        std::string line = command_ + " " + std::to_string(tokens);
        for (const specsample::Token token : prompt) line += " " + std::to_string(token);
        int status = 0;
        Written result;
        {
            const auto close = [&](std::FILE* pipe) { status = pclose(pipe); };
            const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(line.c_str(), "r"), close);
            if (!pipe || std::fscanf(pipe.get(), "%lf", &result.seconds) != 1) result.seconds = 0;
            for (specsample::Token token; pipe && std::fscanf(pipe.get(), "%d", &token) == 1;)
                result.tokens.push_back(token);
        }
        if (status != 0 || result.seconds <= 0 || result.tokens.empty())
            throw std::runtime_error("--other: '" + command_ + "' must print seconds and ids and end with code 0");
        return result;
    }

  private:
    std::string command_;
};

}  // namespace speed

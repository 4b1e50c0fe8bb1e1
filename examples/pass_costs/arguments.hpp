// The command line of pass_costs.
#pragma once

#include <charconv>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/kernel.hpp"
#include "engine/model.hpp"

namespace pass_costs {

struct Arguments {
    std::filesystem::path target = std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "target_1.8M_int8.bin";
    engine::Index threads = 2;    ///< beside one thread
    engine::Index positions = 9;  ///< of the largest pass
};

inline engine::Index count(std::string_view option, std::string_view text, engine::Index most) {
    engine::Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
        throw std::invalid_argument(std::string(option) + " is '" + std::string(text) +
                                    "', but must be a number from 1 to " + std::to_string(most));
    }
    return value;
}

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const std::string_view option = words[i];
        const std::string_view value = i + 1 < words.size() ? words[i + 1] : "";
        if (option == "--target") {
            arguments.target = value;
        } else if (option == "--threads") {
            arguments.threads = count(option, value, 1024);
        } else if (option == "--positions") {
            arguments.positions = count(option, value, engine::Model::max_pass);
        } else {
            throw std::invalid_argument("there is no option " + std::string(option) +
                                        ", but --target F, --threads N and --positions N");
        }
    }
    return arguments;
}

}  // namespace pass_costs

// The command line of pass_costs.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "../../arguments.hpp"
#include "engine/kernel.hpp"
#include "engine/model.hpp"

namespace pass_costs {

struct Arguments {
    std::filesystem::path target = std::filesystem::path(SPECSAMPLE_MODELS_DIR) / "target_1.8M_int8.bin";
    engine::Index threads = 2;    ///< beside one thread
    engine::Index positions = 9;  ///< of the largest pass
};

/// Stores a number from 1 to `most`.
template <auto member, engine::Index most>
inline constexpr auto count = [](Arguments& arguments, std::string_view option, std::string_view value) -> void {
    const std::string must = "a number from 1 to " + std::to_string(most);
    arguments.*member = command_line::number<engine::Index>(option, value, must);
    if (arguments.*member < 1 || arguments.*member > most) command_line::refuse(option, value, must);
};

/// @throws std::invalid_argument with the argument, its value and what it must be
inline Arguments parse(std::span<char* const> words) {
    static constexpr command_line::Option<Arguments> options[]{
        {"--target", command_line::set<&Arguments::target>},
        {"--threads", count<&Arguments::threads, 1024>},
        {"--positions", count<&Arguments::positions, engine::Model::max_pass>}};
    return command_line::parse(words, options, ", but --target F, --threads N and --positions N");
}

}  // namespace pass_costs

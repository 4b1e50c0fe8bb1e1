// The requests of write_texts: one line each.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/token.hpp"

struct TextRequest {
    double temperature = 0;
    std::vector<engine::Token> prompt{};
    std::vector<engine::Token> behind_message{};  ///< empty: no message is invented
};

inline std::vector<TextRequest> read_requests(const std::filesystem::path& path, engine::Index vocab) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("the requests " + path.string() + " cannot be opened");
    std::vector<TextRequest> requests;
    for (std::string line; std::getline(file, line);) {
        const auto fail = [&](const std::string& what) {
            throw std::runtime_error("line " + std::to_string(requests.size() + 1) + " of " + path.string() + " " +
                                     what);
        };
        std::istringstream fields(line);
        TextRequest request;
        std::string part;
        std::getline(fields, part, ';');
        if (!(std::istringstream(part) >> request.temperature) || !(request.temperature >= 0))
            fail("begins with " + part + ", but must begin with a temperature");
        for (auto* tokens : {&request.prompt, &request.behind_message}) {
            std::getline(fields, part, ';');
            if (!fields) break;
            std::istringstream numbers(part);
            for (engine::Token token; numbers >> token; tokens->push_back(token))
                if (token < 0 || token >= vocab) fail("has the token " + std::to_string(token) + ", which is not one");
            if (!numbers.eof()) fail("has tokens that are not numbers");
        }
        if (request.prompt.empty()) fail("has no tokens");
        requests.push_back(std::move(request));
    }
    return requests;
}

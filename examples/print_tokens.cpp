// Prints the tokens of texts, for check_tokenizer.py: print_tokens TOKENIZER VOCABULARY plain|specials|chat < texts
// A text on stdin is its size, a little-endian uint32, and its bytes; a line on stdout is its tokens.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pieces.hpp"
#include "engine/tokenizer.hpp"

namespace {

std::vector<engine::Token> encode(const engine::Tokenizer& tokenizer, std::string_view way, std::string_view text) {
    if (way == "plain") return tokenizer.encode(text);
    if (way == "specials") return tokenizer.encode_with_specials(text);
    if (way != "chat") throw std::invalid_argument("'" + std::string(way) + "' must be plain, specials or chat");
    const auto tokens = tokenizer.chat(text);
    if (!tokens) throw std::runtime_error("the tokenizer has no form of chats");
    return *tokens;
}

void print(const engine::Tokenizer& tokenizer, std::string_view way) {
    const std::string input(std::istreambuf_iterator<char>(std::cin), {});
    for (std::string_view rest = input; !rest.empty();) {
        const auto size = engine::take<std::uint32_t>(rest);
        for (const auto token : encode(tokenizer, way, engine::take_bytes(rest, size))) std::printf("%d ", token);
        std::puts("");
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 4)
            throw std::invalid_argument("needs a tokenizer's file, its vocabulary's size, and a way to encode");
        print(engine::Tokenizer::load(argv[1], std::stol(argv[2])), argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "print_tokens: %s\n", error.what());
        return 2;
    }
}

// What tokenizers share: taking numbers off the front of a file, and finding the piece of a token.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/token.hpp"

namespace engine {

static_assert(std::endian::native == std::endian::little, "tokenizer files hold little-endian numbers");

/// Removes the first `size` bytes and returns them; throws std::runtime_error if there are fewer.
inline std::string_view take_bytes(std::string_view& bytes, std::size_t size) {
    if (bytes.size() < size) throw std::runtime_error("it ends too early");
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return taken;
}

/// Reads a number from the front of `bytes` and removes it.
template <class T>
T take(std::string_view& bytes) {
    T value;
    std::memcpy(&value, take_bytes(bytes, sizeof value).data(), sizeof value);
    return value;
}

/// The text of a token; throws std::invalid_argument for one outside of the vocabulary.
inline const std::string& piece(const std::vector<std::string>& pieces, Token token) {
    if (token < 0 || token >= std::ssize(pieces)) {
        throw std::invalid_argument("cannot decode token " + std::to_string(token) + " of a vocabulary of " +
                                    std::to_string(pieces.size()));
    }
    return pieces[static_cast<std::size_t>(token)];
}

}  // namespace engine

// The bytes of a draft's message, and what can be wrong with them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specsample/core/config.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI {
namespace wire {

/// What is wrong with a message.
enum class Fault {
    truncated,      ///< shorter or longer than it says
    corrupted,      ///< another checksum: bits have changed on the way
    version,        ///< no draft, or written by another version of this format
    malformed,      ///< whole, but no draft: ids outside the vocabulary, a parent after its child, ..
    another_round,  ///< a draft for another request, position or vocabulary
};

/// Say in a sentence what is wrong with a message.
inline std::string message(Fault fault) {
    constexpr std::array sentences{"is shorter or longer than it says", "does not have the checksum that it says",
                                   "is no draft of this version", "holds no valid draft",
                                   "is for another request, position or vocabulary"};
    return std::string("specsample::wire: the message ") + sentences[static_cast<std::size_t>(fault)];
}

}  // namespace wire

namespace detail {

/// Writes numbers into a message, the least byte first.
struct WireWriter {
    std::vector<std::byte>& bytes;
    std::size_t at = 0;

    template <class T>
    void put(T value) {
        at = bytes.size();
        bytes.resize(at + sizeof(T));
        set(value);
    }
    template <class T>
    void set(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * i & 0xff);
    }
};
/// Reads them. Past the end all numbers are 0.
struct WireReader {
    std::span<const std::byte> bytes;
    bool is_over = false;  ///< something was read past the end

    template <class T>
    T get() {
        if (is_over || bytes.size() < sizeof(T)) return is_over = true, T{};
        T value{};
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(bytes[i]) << 8 * i));
        bytes = bytes.subspan(sizeof(T));
        return value;
    }
    /// Read an id or a node; -1 for none.
    std::int64_t get_signed() { return std::bit_cast<std::int32_t>(get<std::uint32_t>()); }
};

/// FNV-1a of all but the checksum itself: no two messages that differ in one byte have the same.
inline std::uint64_t wire_checksum(std::span<const std::byte> message) {
    std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
    for (std::size_t i = 0; i < message.size(); ++i)
        if (i < 8 || i >= 16) sum = (sum ^ std::to_integer<std::uint64_t>(message[i])) * 0x100'0000'01b3;
    return sum;
}

}  // namespace detail
}}  // namespace specsample

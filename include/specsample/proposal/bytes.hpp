// Numbers as bytes, little-endian on every machine, and back without trust.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace specsample::detail {

/// The unsigned integer of a number's size.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 2, std::uint16_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 8, std::uint64_t, void>>>;

/// Writes numbers one after the other.
class ByteWriter {
  public:
    template <class T>
    void put(const T& number) {
        put(std::span(&number, 1));
    }
    template <class T>
    void put(std::span<T> numbers) {
        std::size_t at = bytes_.size();
        bytes_.resize(at + numbers.size_bytes());
        for (const T& number : numbers) {
            BitsOf<T> bits;
            std::memcpy(&bits, static_cast<const void*>(&number), sizeof bits);
            for (std::size_t byte = 0; byte < sizeof bits; ++byte)
                bytes_[at++] = static_cast<std::byte>(bits >> (8 * byte));
        }
    }

    std::span<const std::byte> bytes() const { return bytes_; }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

/// Reads them back. What is not there is read as 0, and nothing else is read from then on.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

    template <class T>
    T take() {
        T number{};
        take(std::span(&number, 1));
        return number;
    }
    template <class T>
    void take(std::span<T> numbers) {
        if (numbers.size_bytes() > left_.size()) {
            left_ = {};
            is_short_ = true;
            return;
        }
        std::size_t at = 0;
        for (T& number : numbers) {
            std::uint64_t bits = 0;
            for (std::size_t byte = 0; byte < sizeof(T); ++byte)
                bits |= std::to_integer<std::uint64_t>(left_[at++]) << (8 * byte);
            const auto own = static_cast<BitsOf<T>>(bits);
            std::memcpy(static_cast<void*>(&number), &own, sizeof own);
        }
        left_ = left_.subspan(at);
    }

    std::size_t left() const { return left_.size(); }
    bool is_short() const { return is_short_; }

  private:
    std::span<const std::byte> left_;
    bool is_short_ = false;
};

/// A number that is another one where any one byte differs, and with probability 1 - 2^-64 for more damage. No
/// protection against somebody who wants to deceive.
inline std::uint64_t checksum(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
    while (!bytes.empty()) {
        const auto word = bytes.first(std::min<std::size_t>(8, bytes.size()));
        std::uint64_t bits = 0;
        for (std::size_t byte = 0; byte < word.size(); ++byte)
            bits |= std::to_integer<std::uint64_t>(word[byte]) << (8 * byte);
        sum = (sum ^ bits) * 0x9e37'79b9'7f4a'7c15;  // both steps can be undone, so a changed word stays seen
        sum ^= sum >> 32;
        bytes = bytes.subspan(word.size());
    }
    return sum;
}

}  // namespace specsample::detail

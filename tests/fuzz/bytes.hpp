// Choices read from arbitrary bytes. Past their end all of them are 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <specsample/core/eigen.hpp>
#include <specsample/core/types.hpp>

namespace fuzz {

using specsample::Index;

/// The assertion of the fuzzing programs: aborts with the condition that does not hold.
inline void must(bool holds, const char* sentence) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", sentence);
    std::abort();
}

class Bytes {
  public:
    explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }

    /// The next `size` bytes as a number, the lowest first.
    std::uint64_t word(int size = 8) {
        std::uint64_t word = 0;
        for (int i = 0; i < size; ++i) word |= std::uint64_t{byte()} << (8 * i);
        return word;
    }

    /// A number in [0, count), count <= 65536.
    Index below(Index count) { return static_cast<Index>(word(count > 256 ? 2 : 1)) % count; }

    /// True for one byte in `count`, and never past the end.
    bool one_in(Index count) { return below(count) == count - 1; }

    /// Any floating-point number: the bits of one of four scalars.
    double number() {
        switch (below(4)) {
            case 0:
                return static_cast<double>(Eigen::half_impl::half_to_float(half_bits()));
            case 1:
                return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word(2)) << 16));
            case 2:
                return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word(4))));
            default:
                return std::bit_cast<double>(word());
        }
    }

  private:
    Eigen::half_impl::__half_raw half_bits() {
        return Eigen::half_impl::raw_uint16_to_half(static_cast<std::uint16_t>(word(2)));
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace fuzz

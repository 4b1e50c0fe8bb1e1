// Plain reads, the limit of every kernel: the same bytes, read and added up. There are several, because none is the
// fastest at every cache level and instruction set; a figure is always a ratio to the fastest of them.
#pragma once

#include "rows.hpp"

#include <algorithm>
#include <tuple>

namespace bench {

/// Reads one row after the other, with Eigen's sum.
struct ReadSum {
    static constexpr const char* name = "sum";

    template <class... Rows>
    float operator()(const Rows&... rows) const {
        return (rows.sum() + ...);
    }
};

/// Reads all rows at once, into one running sum per number in `packets` packets.
template <int packets>
struct ReadPackets {
    static constexpr const char* name = packets == 2 ? "2_packets" : "4_packets";
    static constexpr int lanes = packets * std::max(16, EIGEN_MAX_STATIC_ALIGN_BYTES) / int{sizeof(float)};
    using Lanes = Eigen::Array<float, lanes, 1>;

    template <class... Rows>
    float operator()(const Row& first, const Rows&... others) const {
        const Index whole = first.size() / lanes * lanes;
        const Index rest = first.size() - whole;
        Lanes sums = Lanes::Zero();
        for (Index i = 0; i < whole; i += lanes) {
            sums += Eigen::Map<const Lanes>(first.data() + i);
            ((sums += Eigen::Map<const Lanes>(others.data() + i)), ...);
        }
        return sums.sum() + first.tail(rest).sum() + (0.f + ... + others.tail(rest).sum());
    }
};

inline constexpr std::tuple<ReadSum, ReadPackets<2>, ReadPackets<4>> readers;

/// Reads nothing and counts the bytes that the readers above read.
struct CountBytes {
    template <class... Rows>
    double operator()(const Rows&... rows) const {
        return static_cast<double>((rows.size() + ...)) * sizeof(float);
    }
};

}  // namespace bench

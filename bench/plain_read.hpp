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

/// Reads the four quarters of a row alongside each other: more lines are on their way from memory.
struct ReadStreams {
    static constexpr const char* name = "4_streams";
    static constexpr int lanes = std::max(16, EIGEN_MAX_STATIC_ALIGN_BYTES) / int{sizeof(float)};
    using Lanes = Eigen::Array<float, lanes, 1>;

    template <class... Rows>
    float operator()(const Rows&... rows) const {
        return (sum(rows) + ...);
    }

  private:
    static float sum(const Row& row) {
        const Index quarter = row.size() / (4 * lanes) * lanes;
        Lanes sums[4] = {Lanes::Zero(), Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
        for (Index i = 0; i < quarter; i += lanes)
            for (int part = 0; part < 4; ++part) sums[part] += Eigen::Map<const Lanes>(row.data() + part * quarter + i);
        return (sums[0] + sums[1] + sums[2] + sums[3]).sum() + row.tail(row.size() - 4 * quarter).sum();
    }
};

inline constexpr std::tuple<ReadSum, ReadPackets<2>, ReadPackets<4>, ReadStreams> readers;

/// Reads nothing and counts the bytes that the readers above read.
struct CountBytes {
    template <class... Rows>
    double operator()(const Rows&... rows) const {
        return static_cast<double>((rows.size() + ...)) * sizeof(float);
    }
};

}  // namespace bench

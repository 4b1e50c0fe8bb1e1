// The blocks of a race in the order of their bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <specsample/core/bits.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Hands out numbered blocks in the order of their bounds, the smallest first.
///
/// A bound and the number of its block form one float, the key: the bits of positive floats have the order of the
/// floats, and the number replaces the last bits of the bound. So all keys differ, and every key handed out is below
/// the rest. The smallest key of each group is kept, so that a step looks at one group and at the smallest keys of all
/// groups.
class BlockOrder {
    static constexpr Index groups = 16;
    static constexpr float never = std::numeric_limits<float>::max();

  public:
    static constexpr Index group = 32, most = group * groups;  ///< in blocks
    static constexpr float largest = never / 2;                ///< the largest bound
    static constexpr double slack = 1 + 0x1p-12;               ///< a key differs from its bound by at most this factor

    using Bounds = std::array<float, std::size_t{group}>;

    /// Forget all blocks.
    void clear() {
        count_ = 0;
        earliest_.fill(never);
    }

    /// Add the next `count` blocks, a whole group, or fewer if they are the last.
    /// @param bounds   one per block, positive and at most `largest`. All of `bounds` is read, also beyond `count`
    void add(Index count, const Bounds& bounds) {
        std::array<std::int32_t, std::size_t{group}> bits;
        std::memcpy(bits.data(), bounds.data(), sizeof bits);
        for (std::int32_t i = 0, first = static_cast<std::int32_t>(count_); i < group; ++i) {
            auto& key = bits[static_cast<std::size_t>(i)];
            key = (key & ~number) | (first + i);
        }
        std::memcpy(keys_.data() + count_, bits.data(), sizeof bits);
        std::fill(keys_.data() + count_ + count, keys_.data() + count_ + group, never);
        next_ = 0;
        find_earliest(count_ / group);
        count_ += group;
    }

    /// Find the next block.
    /// @returns   false if none is left
    bool find() {
        next_ = smallest_above<groups>(0, earliest_.data());
        return next_ < never;
    }
    /// Return the bound of the block that was found.
    double bound() const { return next_; }
    /// Hand out the number of the block that was found.
    Index take() {
        const Index block = detail::bit_cast<std::int32_t>(next_) & number;
        find_earliest(block / group);
        return block;
    }

  private:
    static constexpr std::int32_t number = most - 1;  ///< the bits of a block's number

    /// Return the smallest of `count` keys above `last`, the key handed out last; `never` if none is above it.
    template <Index count>
    static float smallest_above(float last, const float* keys) {
        using namespace Eigen::internal;
        using Packet = packet_traits<float>::type;
        constexpr Index size = packet_traits<float>::size;
        const auto load = [&](Index i) {
            const Packet x = ploadu<Packet>(keys + i * size);
            return pselect(pcmp_lt(pset1<Packet>(last), x), x, pset1<Packet>(never));
        };
        return predux_min(few_lanes(packet_min, fold<count / size>(packet_min, load)));
    }
    void find_earliest(Index of) {
        earliest_[static_cast<std::size_t>(of)] = smallest_above<group>(next_, keys_.data() + of * group);
    }

    Index count_ = 0;  ///< a multiple of the group
    std::array<float, std::size_t{most}> keys_;
    std::array<float, std::size_t{groups}> earliest_;  ///< the smallest key left in each group
    float next_ = 0;
};

}}}  // namespace specsample::detail

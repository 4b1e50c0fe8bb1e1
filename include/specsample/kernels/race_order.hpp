// The blocks of a race in the order of their bounds.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <specsample/kernels/block.hpp>

namespace specsample::inline SPECSAMPLE_ABI::detail {

/// Replaces numbers up to the last one handed out by one that is above all others, for Eigen's unaryExpr.
struct KeepAbove {
    float last, never;

    EIGEN_ALWAYS_INLINE float operator()(float x) const { return x > last ? x : never; }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        return pselect(pcmp_lt(pset1<Packet>(last), x), x, pset1<Packet>(never));
    }
};

/// Hands out numbered blocks, those with the smallest bounds first.
///
/// A bound and the number of its block are one float, the key: the bits of positive floats have the order of the
/// floats, and the last of them are replaced by the number. So all keys differ, and what has been handed out is below
/// the rest. The smallest key of each group is kept, so that a step looks at one group and at the groups' smallest.
class BlockOrder {
    static constexpr Index groups = 32;
    static constexpr float never = std::numeric_limits<float>::max();

  public:
    static constexpr Index group = 64, most = group * groups;  ///< blocks
    static constexpr float largest = never / 2;                ///< bound
    static constexpr double slack = 1 + 0x1p-12;               ///< a bound is kept up to this factor

    using Bounds = Eigen::Array<float, group, 1>;

    /// Forget all blocks.
    void clear() {
        count_ = 0;
        earliest_.setConstant(never);
    }

    /// Add the next `count` blocks, as many as a group has, or fewer if they are the last.
    /// @param bounds   theirs: positive, `largest` at most; those of a whole group are read
    void add(Index count, const Bounds& bounds) {
        std::array<std::int32_t, std::size_t{group}> bits;
        std::memcpy(bits.data(), bounds.data(), sizeof bits);
        for (std::int32_t i = 0, first = static_cast<std::int32_t>(count_); i < group; ++i) {
            auto& key = bits[static_cast<std::size_t>(i)];
            key = (key & ~number) | (first + i);
        }
        std::memcpy(keys_.data() + count_, bits.data(), sizeof bits);
        keys_.segment(count_ + count, group - count).setConstant(never);
        next_ = 0;
        find_earliest(count_ / group);
        count_ += group;
    }

    /// Find the next block.
    /// @returns   false if none is left
    bool find() {
        next_ = smallest(earliest_);
        return next_ < never;
    }
    /// The bound of the block that was found.
    double bound() const { return next_; }
    /// Hand it out.
    Index take() {
        const Index block = std::bit_cast<std::int32_t>(next_) & number;
        find_earliest(block / group);
        return block;
    }

  private:
    static constexpr std::int32_t number = most - 1;  ///< the bits of a block's number

    /// The smallest of some keys.
    template <class Keys>
    static float smallest(const Keys& keys) {
        const Eigen::Array<float, Keys::SizeAtCompileTime, 1> all = keys;
        return Eigen::internal::predux_min(few_lanes<Keys::SizeAtCompileTime>(packet_min, all.data()));
    }
    void find_earliest(Index of) {
        earliest_[of] = smallest(keys_.segment<group>(of * group).unaryExpr(KeepAbove{next_, never}));
    }

    Index count_ = 0;  ///< a multiple of the group
    Eigen::Array<float, most, 1> keys_;
    Eigen::Array<float, groups, 1> earliest_;  ///< of each group
    float next_ = 0;
};

}  // namespace specsample::inline SPECSAMPLE_ABI::detail

template <>
struct Eigen::internal::functor_traits<specsample::detail::KeepAbove> {
    enum { Cost = 2, PacketAccess = packet_traits<float>::size > 1 };
};

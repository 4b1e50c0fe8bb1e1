// The largest number of each block of a race, and whether all numbers of the blocks can race.
//
// A scan does not test each number but accumulates doubt in a register, which costs less: the sign bit of a lane is set
// if a number may be bad. A doubtful row is read again, number by number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/block.hpp>
#include <specsample/kernels/nan.hpp>
#include <specsample/kernels/places.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The number of ids that share the noise of a block: ids that agree in all bits but the last six.
inline constexpr Index race_block = places_at_once;

/// Accumulates whether a number is no weight, for Eigen's binaryExpr: the sign bit of `seen` is set from the first
/// number on that is negative, -0, infinite or NaN. The other bits are arbitrary.
template <class Value>
struct WeightWatch {
    EIGEN_ALWAYS_INLINE Value operator()(const Value& seen, const Value& x) const {
        const auto wide = static_cast<double>(x);
        return is_finite(wide) && !std::signbit(wide) ? seen : Value{-1};
    }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& seen, const Packet& x) const {
        using namespace Eigen::internal;
        using Integers = typename unpacket_traits<Packet>::integer_packet;
        const Integers bits = preinterpret<Integers>(x);
        const Integers room = psub(pset1<Integers>(0x7f7f'ffff), bits);  // negative for infinity and NaN
        return preinterpret<Packet>(por(preinterpret<Integers>(seen), por(bits, room)));
    }
};

/// Accumulates doubt about a block's weights: their sum is not finite if a weight is not, and the OR of their sign bits
/// is set if a weight is negative.
struct DoubtWeights {
    template <Index count, class Packet, class Load>
    EIGEN_ALWAYS_INLINE static Packet scan(const Load& load, const Packet& doubt) {
        const Packet signs = Eigen::internal::por(doubt, fold<count>(packet_or, load));
        return WeightWatch<float>().packetOp(signs, fold<count>(packet_sum, load));
    }
};

/// Accumulates doubt about a block's logits: a sum with a NaN is NaN. A sum with infinities may be NaN, too.
struct DoubtLogits {
    template <Index count, class Packet, class Load>
    EIGEN_ALWAYS_INLINE static Packet scan(const Load& load, const Packet& doubt) {
        return NanWatch<float>().packetOp(doubt, fold<count>(packet_sum, load));
    }
};

/// Find the largest number of each of four blocks of 64, reduced together by a transposition: reducing each block alone
/// takes twice as long as reading it.
template <class Doubt, class Packet>
EIGEN_ALWAYS_INLINE void largest_of_four(const float* numbers, Packet& doubt, float* largest) {
    using namespace Eigen::internal;
    using Quarter = decltype(few_lanes(packet_max, doubt));
    PacketBlock<Quarter, 4> four;
    for (Index block = 0; block < 4; ++block) {
        const float* const first = numbers + block * race_block;
        constexpr Index size = unpacket_traits<Packet>::size, count = race_block / size;
        const auto load = [&](Index i) { return ploadu<Packet>(first + i * size); };
        doubt = Doubt::template scan<count>(load, doubt);
        four.packet[block] = few_lanes(packet_max, fold<count>(packet_max, load));
    }
    ptranspose(four);
    const auto column = [&](Index i) { return four.packet[i]; };
    pstoreu(largest, fold<4>(packet_max, column));
}

}}}  // namespace specsample::detail

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::WeightWatch<Value>> {
    enum { Cost = 3, PacketAccess = std::is_same_v<Value, float> && packet_traits<float>::size > 1 };
};

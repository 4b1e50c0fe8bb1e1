// Is there a NaN among these numbers? Told by their bits, many at a time: -ffast-math lets a compiler drop every other
// test.
#pragma once

#include <type_traits>

#include <specsample/core/number.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample::detail {

/// 1 for a NaN, 0 for any other number: what can be summed.
template <class Value>
struct NanMark {
    EIGEN_ALWAYS_INLINE Value operator()(const Value& x) const {
        return static_cast<Value>(is_nan(static_cast<double>(x)) ? 1 : 0);
    }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        using Integers = typename unpacket_traits<Packet>::integer_packet;
        const Integers magnitude = pand(preinterpret<Integers>(x), pset1<Integers>(0x7fff'ffff));
        const Integers is_nan = parithmetic_shift_right<31>(psub(pset1<Integers>(0x7f80'0000), magnitude));
        return pand(preinterpret<Packet>(is_nan), pset1<Packet>(1.f));
    }
};

/// Is one of `count` numbers NaN?
/// @cost one pass
template <class Value>
bool has_nan(const Value* numbers, Index count) {
    const auto mark = [](const auto& x) { return x.unaryExpr(NanMark<Value>{}); };
    Value marks = 0;
    for_blocks(0, count, [&](Index first, Index n) { marks += block_sum<Value>(n, mark, numbers + first); });
    return marks > 0;
}

}  // namespace specsample::detail

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::NanMark<Value>> {
    enum { Cost = 4, PacketAccess = std::is_same_v<Value, float> && packet_traits<float>::size > 1 };
};

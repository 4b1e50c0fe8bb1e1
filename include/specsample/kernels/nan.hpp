// A test for NaN among many numbers at a time, by their bits: -ffast-math lets a compiler drop any other test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Accumulates whether a number was NaN, for Eigen's binaryExpr: the sign bit of `seen` is set from the first NaN on.
/// The other bits are arbitrary.
template <class Value>
struct NanWatch {
    EIGEN_ALWAYS_INLINE Value operator()(const Value& seen, const Value& x) const {
        return is_nan(static_cast<double>(x)) ? Value{-1} : seen;
    }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& seen, const Packet& x) const {
        using namespace Eigen::internal;
        using Integers = typename unpacket_traits<Packet>::integer_packet;
        const Integers magnitude = pand(preinterpret<Integers>(x), pset1<Integers>(0x7fff'ffff));
        const Integers room = psub(pset1<Integers>(0x7f80'0000), magnitude);  // negative for a NaN alone
        return preinterpret<Packet>(por(preinterpret<Integers>(seen), room));
    }
};

/// Return whether a NanWatch has seen a NaN in any lane.
template <class Value, int size>
bool saw_nan(const Eigen::Array<Value, size, 1>& seen) {
    using Bits = std::conditional_t<sizeof(Value) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
    Eigen::Array<Bits, size, 1> lanes;
    std::memcpy(lanes.data(), seen.data(), sizeof(Bits) * std::size_t{size});
    return lanes.minCoeff() < 0;  // an OR of the lanes in a loop makes clang 16 crash, with AVX2
}

/// Whether numbers are scanned in packets: floats, where a processor has registers for them.
template <class Value>
inline constexpr bool scans_packets =
    std::is_same_v<Value, float> && (Eigen::internal::packet_traits<Value>::size >= 4);

/// Return whether a NanWatch has seen a NaN in any lane of a packet.
template <class Packet>
bool saw_nan_in(const Packet& seen) {
    using Traits = Eigen::internal::unpacket_traits<Packet>;
    Eigen::Array<typename Traits::type, Traits::size, 1> lanes;
    Eigen::internal::pstoreu(lanes.data(), seen);
    return saw_nan(lanes);
}

/// Return whether a watch, such as NanWatch, sees a bad number among `count` numbers.
/// @cost one pass
template <class Watch, class Value>
bool sees(const Value* numbers, Index count) {
    const Index whole = count - count % stripe_width;
    Stripe<Value> seen = Stripe<Value>::Zero();
    for (Index i = 0; i < whole; i += stripe_width)
        seen = seen.binaryExpr(entries_at<stripe_width>(numbers, i), Watch());
    Eigen::Array<Value, 1, 1> rest = Eigen::Array<Value, 1, 1>::Zero();
    for (Index i = whole; i < count; ++i) rest[0] = Watch()(rest[0], numbers[i]);
    return saw_nan(seen) || saw_nan(rest);
}

/// Return whether one of `count` numbers is NaN.
/// @cost one pass
template <class Value>
bool has_nan(const Value* numbers, Index count) {
    return sees<NanWatch<Value>>(numbers, count);
}

}}}  // namespace specsample::detail

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::NanWatch<Value>> {
    enum { Cost = 3, PacketAccess = std::is_same_v<Value, float> && packet_traits<float>::size > 1 };
};

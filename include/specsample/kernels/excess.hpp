// What one number exceeds another by: the term that residuals are summed from.
#pragma once

#include <specsample/core/config.hpp>

namespace specsample::detail {

/// Twice max(0, x - y), for Eigen's binaryExpr: d + |d|, which unlike a maximum keeps a NaN, so that a bad row cannot
/// pass unseen. A functor, because an expression that names d twice computes it twice.
template <class Value>
struct TwiceExcess {
    EIGEN_ALWAYS_INLINE Value operator()(const Value& x, const Value& y) const {
        const Value d = x - y;
        return d + Eigen::numext::abs(d);
    }
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x, const Packet& y) const {
        const Packet d = Eigen::internal::psub(x, y);
        return Eigen::internal::padd(d, Eigen::internal::pabs(d));
    }
};

}  // namespace specsample::detail

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::TwiceExcess<Value>> {
    enum { Cost = 3 * NumTraits<Value>::AddCost, PacketAccess = packet_traits<Value>::HasSub };
};

// The two functors that residuals are summed with: max(0, x - y), and the rounded product that is subtracted.
#pragma once

#include <specsample/core/config.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Twice max(0, x - y), for Eigen's binaryExpr: d + |d| with d = x - y. Unlike a maximum this keeps a NaN, so that a
/// bad row does not pass unseen. It is a functor because an expression that names d twice computes it twice.
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

/// factor * x, rounded, for Eigen's unaryExpr: the compiler must not fuse the product with a difference that follows.
template <class Value>
class Scaled {
  public:
    explicit Scaled(Value factor) : factor_(factor) {}

    EIGEN_ALWAYS_INLINE Value operator()(const Value& x) const { return rounded(factor_ * x); }
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x) const {
        return rounded(Eigen::internal::pmul(x, Eigen::internal::pset1<Packet>(factor_)));
    }

  private:
    Value factor_;
};

}}}  // namespace specsample::detail

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::TwiceExcess<Value>> {
    enum { Cost = 3 * NumTraits<Value>::AddCost, PacketAccess = packet_traits<Value>::HasSub };
};

template <class Value>
struct Eigen::internal::functor_traits<specsample::detail::Scaled<Value>> {
    enum { Cost = NumTraits<Value>::MulCost, PacketAccess = packet_traits<Value>::HasMul };
};

// The exponential behind every softmax: a power of two, relative to a pivot.
//
// Eigen's exponential costs up to four times as much and is never 0, not even for -inf, so that a masked token could
// still be drawn.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <specsample/core/config.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/number.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
inline constexpr bool nan_may_be_lost = true;  ///< a minimum or a maximum may swap its operands and drop a NaN
#else
inline constexpr bool nan_may_be_lost = false;
#endif

/// A polynomial for 2^f on [-1/2, 1/2]: 1, then the coefficients of f, f^2, .. that minimise the largest relative
/// error, 9.2e-8. The 1 makes the power of an integer exact: the weight of the pivot itself is `factor`.
inline constexpr std::array<float, 6> exp2_coefficients{1.f,          .693147004f,   .240222409f,
                                                        .0555072464f, .00967151299f, .00132650288f};

template <class Value>
inline constexpr bool vectorised_exp2 = std::is_same_v<Value, float> && Eigen::internal::packet_traits<float>::size > 1;

/// A number in every lane of a register, stored ready to be loaded: clang would otherwise build it for every use.
class Broadcast {
  public:
    Broadcast() = default;
    explicit Broadcast(float value) {
        using namespace Eigen::internal;
        pstore(lanes_.data(), pset1<packet_traits<float>::type>(value));
    }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packet() const {
        return Eigen::internal::pload<Packet>(lanes_.data());
    }

  private:
    static constexpr std::size_t size_ = Eigen::internal::packet_traits<float>::size;
    alignas(size_ * sizeof(float)) std::array<float, size_> lanes_;
};

/// factor * 2^t with t = (x - pivot) * scale, for Eigen's unaryExpr (in a loop: by ByReference).
///
/// The calls are inlined and take x by reference: under -ffast-math clang assumes that an argument by value is no NaN.
///
/// @pre       pivot, scale and factor are finite, and scale is not 0: -inf times 0 is NaN
/// @edge      0 for t < -126 (double: -1022), hence for x = -inf: no result is subnormal unless the factor makes it so;
///            infinite where the power is too large for the scalar, so that an overflow is seen; NaN for a NaN. Under
///            -ffast-math too
/// @accuracy  float: relative error below 2.3e-7 where -125.5 <= t < 128, and the rounding of t adds at most 1.3e-7 *
///            |t|; 0 for smaller t. double: as std::exp2
/// @cost      float: .12 ns with AVX-512, .2 with AVX2, .6 with SSE2; double and builds without SIMD: std::exp2
template <class Value, bool vectorised = vectorised_exp2<Value>>
class ScaledExp2 {
  public:
    explicit ScaledExp2(Value pivot, Value scale, Value factor = 1) : pivot_(pivot), scale_(scale), factor_(factor) {}

    EIGEN_ALWAYS_INLINE Value operator()(const Value& x) const {
        const Value t = (x - pivot_) * scale_;
        if (is_nan(static_cast<double>(t))) return t;
        return t < std::numeric_limits<Value>::min_exponent - 1 ? Value{0} : factor_ * std::exp2(t);
    }

  private:
    Value pivot_, scale_, factor_;
};

/// The packet form: t = n + f with an integer n, a polynomial for 2^f, and 2^n assembled from its bits. AVX-512 has
/// instructions that round t and scale by 2^n, with the same result to the bit.
template <class Value>
class ScaledExp2<Value, true> {
  public:
    /// Double the polynomial, because half_power halves 2^n. So the power of the largest n is representable, and the
    /// power of any n below the smallest is zero.
    explicit ScaledExp2(Value pivot, Value scale, Value factor = 1) : pivot_(pivot), scale_(scale) {
        for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] = Broadcast(2 * factor * exp2_coefficients[i]);
    }

    EIGEN_ALWAYS_INLINE Value operator()(const Value& x) const {
        using Packet = typename Eigen::internal::packet_traits<Value>::type;
        return Eigen::internal::pfirst(packetOp(Eigen::internal::pset1<Packet>(x)));
    }

    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        const Packet t = pmul(psub(x, pivot_.packet<Packet>()), scale_.packet<Packet>());
        const Packet power = power_of(t);
        if constexpr (nan_may_be_lost) return por(power, ones_if_nan(t));
        return power;
    }

  private:
#ifdef EIGEN_VECTORIZE_AVX512
    /// The mask makes the powers 0 that are too small, -inf included, whose fraction is a NaN.
    EIGEN_ALWAYS_INLINE Eigen::internal::Packet16f power_of(const Eigen::internal::Packet16f& t) const {
        const __m512 n = Eigen::internal::print(t);  // to the nearest integer
        const __m512 twice = polynomial(_mm512_sub_ps(t, n));
        const __mmask16 has_power = _mm512_cmpnle_ps_mask(t, _mm512_set1_ps(-125.5f));  // or is NaN
        return _mm512_maskz_scalef_ps(has_power, twice, _mm512_sub_ps(n, _mm512_set1_ps(1.f)));
    }
#endif

    /// Return factor * 2^t.
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet power_of(const Packet& t) const {
        using namespace Eigen::internal;
        // t must be the first operand: if t is NaN, Eigen then keeps it instead of the bound.
        const Packet bounded = pmin(pmax(t, pset1<Packet>(-126.f)), pset1<Packet>(129.f));
        // Both are rounded where they stand: -ffast-math would simplify x + c - c to x.
        const Packet shifted = rounded(padd(bounded, pset1<Packet>(shift_)));
        const Packet n = rounded(psub(shifted, pset1<Packet>(shift_)));
        // A product with a power of two is exact: fusing it with the caller's difference changes nothing.
        return pmul(polynomial(psub(bounded, n)), half_power(shifted));
    }

    /// Added to a number below 2^22, this rounds it to an integer n and leaves n + 126 in the lowest bits.
    static constexpr float shift_ = 0x1.8p23f + 126;

    template <class Packet>
    using Integers = typename Eigen::internal::unpacket_traits<Packet>::integer_packet;

    template <class Packet>
    static EIGEN_ALWAYS_INLINE Integers<Packet> bits(const Packet& x) {
        return Eigen::internal::preinterpret<Integers<Packet>>(x);
    }

    /// Return 2^(n - 1), for n from -126, where the result is 0, to 129, where it is infinite.
    template <class Packet>
    static EIGEN_ALWAYS_INLINE Packet half_power(const Packet& shifted) {
        using namespace Eigen::internal;
        return preinterpret<Packet>(plogical_shift_left<23>(bits(shifted)));
    }

    /// Return all bits set, which is a NaN, where t is NaN, and 0 elsewhere.
    template <class Packet>
    static EIGEN_ALWAYS_INLINE Packet ones_if_nan(const Packet& t) {
        using namespace Eigen::internal;
        const auto magnitude = pand(bits(t), pset1<Integers<Packet>>(0x7fff'ffff));
        return preinterpret<Packet>(parithmetic_shift_right<31>(psub(pset1<Integers<Packet>>(0x7f80'0000), magnitude)));
    }

    /// Return 2 * factor * 2^f, by Horner's rule: the terms from `first` on. At -O2 g++ does not unroll a loop over
    /// them.
    template <std::size_t first = 0, class Packet>
    EIGEN_ALWAYS_INLINE Packet polynomial(const Packet& f) const {
        const Packet term = terms_[first].template packet<Packet>();
        if constexpr (first + 1 == exp2_coefficients.size())
            return term;
        else
            return Eigen::internal::pmadd(polynomial<first + 1>(f), f, term);
    }

    Broadcast pivot_, scale_;
    std::array<Broadcast, exp2_coefficients.size()> terms_;
};

/// A functor that an expression refers to instead of copying: at -O2 g++ copies a ScaledExp2 in every turn of a loop,
/// at three times the cost of the powers.
/// @pre the functor outlives the expression
template <class Functor>
class ByReference {
  public:
    explicit ByReference(const Functor& functor) : functor_(&functor) {}

    template <class Value>
    EIGEN_ALWAYS_INLINE Value operator()(const Value& x) const {
        return (*functor_)(x);
    }
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(const Packet& x) const {
        return functor_->packetOp(x);
    }

  private:
    const Functor* functor_;
};

}}}  // namespace specsample::detail

template <class Value, bool vectorised>
struct Eigen::internal::functor_traits<specsample::detail::ScaledExp2<Value, vectorised>> {
    enum { Cost = vectorised ? 15 * NumTraits<Value>::MulCost : 100, PacketAccess = vectorised };
};

template <class Functor>
struct Eigen::internal::functor_traits<specsample::detail::ByReference<Functor>> : functor_traits<Functor> {};

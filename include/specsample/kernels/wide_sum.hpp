// Sums in double of numbers that are floats.
//
//   wide_sum       the sum of some numbers
//   AsDoubles      a block whose numbers block_sum reads as doubles
//
// Floats become doubles a register at a time: with Eigen 3.4, which converts them by half registers, a sum takes twice
// as long. A conversion is exact, so that all ways give the same bits.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <type_traits>

#include <specsample/core/eigen.hpp>
#include <specsample/kernels/block.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

#if defined(__SSE2__)
EIGEN_ALWAYS_INLINE void load_doubles(const float* in, __m128d& out) {
    out = _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(static_cast<const __m128i*>(static_cast<const void*>(in)))));
}
#endif
#if defined(__AVX2__)
EIGEN_ALWAYS_INLINE void load_doubles(const float* in, __m256d& out) { out = _mm256_cvtps_pd(_mm_loadu_ps(in)); }
#endif
#if defined(__AVX512F__)
EIGEN_ALWAYS_INLINE void load_doubles(const float* in, __m512d& out) { out = _mm512_cvtps_pd(_mm256_loadu_ps(in)); }
#endif

using DoublePacket = Eigen::internal::packet_traits<double>::type;

inline constexpr bool loads_doubles = sizeof(DoublePacket) > sizeof(double) &&
                                      requires(const float* in, DoublePacket& out) { load_doubles(in, out); };

/// The doubles of floats, for Eigen's NullaryExpr.
class Doubled {
  public:
    explicit Doubled(const float* numbers) : numbers_(numbers) {}

    EIGEN_ALWAYS_INLINE double operator()(Index i) const { return static_cast<double>(numbers_[i]); }
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(Index i) const {
        Packet doubles;
        load_doubles(numbers_ + i, doubles);
        return doubles;
    }

  private:
    const float* numbers_;
};

}}}  // namespace specsample::detail

template <>
struct Eigen::internal::functor_traits<specsample::detail::Doubled> {
    enum { Cost = 1, PacketAccess = specsample::detail::loads_doubles, IsRepeatable = true };
};

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Numbers that a sum reads as doubles.
template <class Value>
struct AsDoubles {
    const Value* numbers;
};
template <Index count, class Value>
EIGEN_ALWAYS_INLINE auto entries_at(const AsDoubles<Value>& of, Index first) {
    if constexpr (!std::is_same_v<Value, float>)
        return entries_at<count>(of.numbers, first);
    else if constexpr (count == 1)  // without g++'s false warning of an expression's functor
        return Eigen::Array<double, 1, 1>::Constant(double{of.numbers[first]}).eval();
    else
        return Eigen::Array<double, count, 1>::NullaryExpr(Doubled(of.numbers + first));
}

/// Return the sum of numbers, in double.
template <class Value>
double wide_sum(const Value* numbers, Index count) {
    return block_sum<double>(
        count, [](const auto& x) { return x; }, AsDoubles<Value>{numbers});
}

}}}  // namespace specsample::detail

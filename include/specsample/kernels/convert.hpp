// Half precision and bfloat16 to float: a register at a time where the processor has the instructions, else in
// integers.
//
//   load_floats           converts 16-bit numbers to as many floats as fit into a register: an overload per register
//   loads_floats<Half>    whether Eigen's registers have an overload; then a sum converts rows in its own loop
//   Widened<Half>         the functor of an array expression of 16-bit numbers
//   to_floats             converts a block of 16-bit numbers and writes it to memory
//
// Eigen 3.4 converts such rows entry by entry in most builds, which costs more than reading them. A conversion to float
// is exact, so all ways give the same bits. The instruction sets that choose the way are part of SPECSAMPLE_ABI.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <limits>

#include <specsample/core/bits.hpp>
#include <specsample/core/eigen.hpp>
#include <specsample/core/types.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// Convert a bfloat16: it is the upper half of a float's bits.
EIGEN_ALWAYS_INLINE float bits_to_float(Eigen::bfloat16, std::int16_t bits) {
    return detail::bit_cast<float>(std::int32_t{bits} << 16);
}

/// Convert a half, whose exponent is shorter than a float's. Zero and subnormal halves are first read as 2^-15 (1 + m),
/// a normal float, and become 2^-14 m by adding 2^-15 (m - 1): no float on the way is subnormal, so nothing is lost in
/// a build that flushes subnormal floats to zero. This addition also quiets a signalling NaN, as F16C does.
EIGEN_ALWAYS_INLINE float bits_to_float(Eigen::half, std::int16_t bits) {
    constexpr std::int32_t exponent = 0x1f << 23, lowest = 1 << 23, rebias = 112 << 23;
    const std::int32_t shifted = std::int32_t{bits} << 13;
    const std::int32_t magnitude = shifted & 0x0fff'ffff;
    const std::int32_t if_subnormal = (magnitude - lowest) >> 31;      // all ones, or zero
    const std::int32_t if_special = (exponent - 1 - magnitude) >> 31;  // infinite or NaN
    const std::int32_t rebiased = magnitude + rebias;
    const std::int32_t excess = detail::bit_cast<std::int32_t>(detail::bit_cast<float>(rebiased) - 0x1p-14f);
    const float normal = detail::bit_cast<float>(rebiased + (rebias & if_special));
    const float result = normal + detail::bit_cast<float>(excess & if_subnormal);
    return detail::bit_cast<float>(detail::bit_cast<std::int32_t>(result) |
                                   (shifted & std::numeric_limits<std::int32_t>::min()));
}

/// Return the bits at `in`. They are copied, because Eigen's types hide them from g++'s vectoriser.
template <class Half>
EIGEN_ALWAYS_INLINE std::int16_t bits_at(const Half* in) {
    std::int16_t bits;
    static_assert(sizeof bits == sizeof(Half));
    std::memcpy(&bits, in, sizeof bits);
    return bits;
}

template <class Half>
EIGEN_ALWAYS_INLINE void load_floats(const Half* in, float& out) {
    out = bits_to_float(Half{}, bits_at(in));
}

#if defined(__AVX2__)
EIGEN_ALWAYS_INLINE __m128i load_eight(const void* in) { return _mm_loadu_si128(static_cast<const __m128i*>(in)); }

/// Shuffle the bytes to their places; place -1 stands for a zero byte.
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::bfloat16* in, __m256& out) {
    const __m256i places = _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,  //
                                            -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    out = _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_eight(in)), places));
}
#elif defined(__SSE2__)
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::bfloat16* in, __m128& out) {
    const __m128i bits = _mm_loadl_epi64(static_cast<const __m128i*>(static_cast<const void*>(in)));
    out = _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), bits));
}
#endif

#if defined(__AVX2__) && defined(__F16C__)
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::half* in, float& out) {
    out = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits_at(in))));
}
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::half* in, __m256& out) { out = _mm256_cvtph_ps(load_eight(in)); }
#endif

#if defined(__AVX512F__) && defined(__F16C__)
EIGEN_ALWAYS_INLINE __m256i load_sixteen(const void* in) { return _mm256_loadu_si256(static_cast<const __m256i*>(in)); }
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::half* in, __m512& out) { out = _mm512_cvtph_ps(load_sixteen(in)); }
EIGEN_ALWAYS_INLINE void load_floats(const Eigen::bfloat16* in, __m512& out) {
#if defined(__AVX512VBMI__)
    const __m512i places =
        _mm512_set_epi64(0x1f1e'0000'1d1c'0000, 0x1b1a'0000'1918'0000, 0x1716'0000'1514'0000, 0x1312'0000'1110'0000,
                         0x0f0e'0000'0d0c'0000, 0x0b0a'0000'0908'0000, 0x0706'0000'0504'0000, 0x0302'0000'0100'0000);
    constexpr __mmask64 upper_halves = 0xcccc'cccc'cccc'cccc;
    out = _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi8(upper_halves, places, _mm512_castsi256_si512(load_sixteen(in))));
#else
    out = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_sixteen(in)), 16));
#endif
}
#endif

using FloatPacket = Eigen::internal::packet_traits<float>::type;

template <class Half>
inline constexpr bool loads_floats = sizeof(FloatPacket) > sizeof(float) &&
                                     requires(const Half* in, FloatPacket& out) { load_floats(in, out); };

/// The floats of 16-bit numbers, for Eigen's NullaryExpr.
template <class Half>
class Widened {
  public:
    explicit Widened(const Half* numbers) : numbers_(numbers) {}

    EIGEN_ALWAYS_INLINE float operator()(Index i) const { return packetOp<float>(i); }
    template <class Packet>
    EIGEN_ALWAYS_INLINE Packet packetOp(Index i) const {
        Packet floats;
        load_floats(numbers_ + i, floats);
        return floats;
    }

  private:
    const Half* numbers_;
};

/// Entries per chunk: a few registers of any width.
inline constexpr Index convert_chunk = 64;

/// Write in[0, count) to out as floats. The loops over integers have a constant length, so that g++ and clang vectorise
/// them from -O2 on. The function is not inlined: g++ would then forget that `in` and `out` do not overlap.
/// @cost      per entry .03 ns with AVX2 and F16C; with SSE2 bfloat16 .06 ns, half .47 ns
/// @accuracy  exact: a subnormal keeps its value, an infinity stays one, a NaN stays NaN, under -ffast-math too
template <class Half>
[[gnu::noinline]] void to_floats(const Half* EIGEN_RESTRICT in, Index count, float* EIGEN_RESTRICT out) {
    using Chunk = Eigen::Array<float, convert_chunk, 1>;
    for (; count >= convert_chunk; count -= convert_chunk, in += convert_chunk, out += convert_chunk) {
        if constexpr (loads_floats<Half>) {
            Chunk::Map(out) = Chunk::NullaryExpr(Widened<Half>(in));
        } else {
            for (Index i = 0; i < convert_chunk; ++i) load_floats(in + i, out[i]);
        }
    }
    for (Index i = 0; i < count; ++i) load_floats(in + i, out[i]);
}

}}}  // namespace specsample::detail

template <class Half>
struct Eigen::internal::functor_traits<specsample::detail::Widened<Half>> {
    enum { Cost = 1, PacketAccess = true, IsRepeatable = true };
};

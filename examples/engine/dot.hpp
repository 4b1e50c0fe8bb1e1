#pragma once

// Dot products of unsigned codes of a matrix with signed 8-bit activations, by the widest instructions that the
// compiler may use: AVX-512 VNNI, AVX2 or plain C++. All give the same bits, because integers have no rounding, and
// because every multiplication and addition of floats is written as the one operation it is.
//
// A panel is `Dot::rows` rows of a matrix, one per lane of a register. Its columns come in groups of 32, and four
// neighbouring columns of a row share a 32-bit word. A group of codes of 8 bits is 8 such words per row; of codes of 4
// bits it is 4 words, where word j holds columns 4j to 4j + 3 in the low halves of its bytes and columns 16 + 4j to
// 19 + 4j in the high ones.

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
#define ENGINE_DOT_VNNI 1
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define ENGINE_DOT_AVX2 1
#endif
#if defined(ENGINE_DOT_VNNI) || defined(ENGINE_DOT_AVX2)
#include <immintrin.h>
#endif

namespace engine {

inline constexpr int group_columns = 32;

/// Four activations as the word that meets four codes.
inline std::int32_t word_at(const std::int8_t* x) {
    std::int32_t word;
    std::memcpy(&word, x, sizeof word);
    return word;
}

/// The plain form, which also defines what the others compute.
struct PlainDot {
    static constexpr int rows = 8;
    template <int Bits>
    static constexpr int max_positions = 4;  ///< whose sums fit the registers
    using Integers = std::array<std::int32_t, rows>;
    using Floats = std::array<float, rows>;

    /// sums[p] of every row = the sum of code times activation over one group, for `Positions` positions whose 32
    /// activations follow each other.
    template <int Bits, int Positions>
    static void group(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
        for (int p = 0; p < Positions; ++p) {
            sums[p] = {};
            for (int word = 0; word < Bits; ++word) {
                for (int row = 0; row < rows; ++row) {
                    const std::uint8_t* four = codes + (word * rows + row) * 4;
                    std::int32_t& sum = sums[p][static_cast<std::size_t>(row)];
                    for (int i = 0; i < 4; ++i) {
                        const std::int8_t* at = x + p * group_columns + 4 * word + i;
                        if constexpr (Bits == 8)
                            sum += four[i] * at[0];
                        else
                            sum += (four[i] & 15) * at[0] + (four[i] >> 4) * at[group_columns / 2];
                    }
                }
            }
        }
    }

    static Floats zero() { return {}; }
    static Floats halves(const Eigen::half* in) {
        Floats out;
        std::copy_n(in, rows, out.begin());
        return out;
    }
    /// sums + scale * factor * (integers + offset): the product of the two scales is rounded, the rest is fused.
    static Floats scaled(const Floats& scale, float factor, const Integers& integers, std::int32_t offset,
                         Floats sums) {
        for (std::size_t row = 0; row < rows; ++row)
            sums[row] = std::fma(scale[row] * factor, static_cast<float>(integers[row] + offset), sums[row]);
        return sums;
    }
    /// sums + a * factor
    static Floats added(const Floats& a, float factor, Floats sums) {
        for (std::size_t row = 0; row < rows; ++row) sums[row] = std::fma(a[row], factor, sums[row]);
        return sums;
    }
    static void store(const Floats& sums, float* out) { std::copy_n(sums.begin(), rows, out); }
};

#if defined(ENGINE_DOT_VNNI)

struct Dot {
    static constexpr int rows = 16;
    template <int Bits>
    static constexpr int max_positions = 8;
    using Integers = __m512i;
    using Floats = __m512;

    template <int Bits, int Positions>
    static void group(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
        const __m512i low = _mm512_set1_epi8(15);
        for (int p = 0; p < Positions; ++p) sums[p] = _mm512_setzero_si512();
        for (int word = 0; word < Bits; ++word, codes += 4 * rows, x += 4) {
            const __m512i loaded = _mm512_loadu_si512(codes);
            const __m512i first = Bits == 8 ? loaded : _mm512_and_si512(loaded, low);
            for (int p = 0; p < Positions; ++p)
                sums[p] = _mm512_dpbusd_epi32(sums[p], first, _mm512_set1_epi32(word_at(x + p * group_columns)));
            if constexpr (Bits == 4) {
                const __m512i second = _mm512_and_si512(_mm512_srli_epi16(loaded, 4), low);
                for (int p = 0; p < Positions; ++p)
                    sums[p] = _mm512_dpbusd_epi32(
                        sums[p], second, _mm512_set1_epi32(word_at(x + p * group_columns + group_columns / 2)));
            }
        }
    }

    static Floats zero() { return _mm512_setzero_ps(); }
    static Floats halves(const Eigen::half* in) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
    }
    static Floats scaled(Floats scale, float factor, Integers integers, std::int32_t offset, Floats sums) {
        const Floats number = _mm512_cvtepi32_ps(_mm512_add_epi32(integers, _mm512_set1_epi32(offset)));
        return _mm512_fmadd_ps(_mm512_mul_ps(scale, _mm512_set1_ps(factor)), number, sums);
    }
    static Floats added(Floats a, float factor, Floats sums) {
        return _mm512_fmadd_ps(a, _mm512_set1_ps(factor), sums);
    }
    static void store(Floats sums, float* out) { _mm512_storeu_ps(out, sums); }
};

#elif defined(ENGINE_DOT_AVX2)

struct Dot {
    static constexpr int rows = 8;
    template <int Bits>
    static constexpr int max_positions = Bits == 8 ? 4 : 8;
    using Integers = __m256i;
    using Floats = __m256;

    /// The halves of bytes are multiplied one by one: their products with activations add up to 16 bits over a whole
    /// group, those of bytes do not.
    template <int Bits, int Positions>
    static void group(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
        constexpr int second_half = Bits == 4 ? group_columns / 2 : 0;
        const __m256i mask = _mm256_set1_epi8(15);
        __m256i low[Positions], high[Positions];  // with 4 bits, low alone
        for (int p = 0; p < Positions; ++p) low[p] = high[p] = _mm256_setzero_si256();
            // Unrolled further, g++ postpones the additions of all words, and their products no longer fit the
            // registers.
#pragma GCC unroll 2
        for (int word = 0; word < Bits; ++word, codes += 4 * rows, x += 4) {
            const __m256i loaded = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
            const __m256i first = _mm256_and_si256(loaded, mask);
            const __m256i second = _mm256_and_si256(_mm256_srli_epi16(loaded, 4), mask);
            for (int p = 0; p < Positions; ++p) {
                const __m256i a = _mm256_set1_epi32(word_at(x + p * group_columns));
                const __m256i b = _mm256_set1_epi32(word_at(x + p * group_columns + second_half));
                __m256i& of_second = Bits == 4 ? low[p] : high[p];
                low[p] = _mm256_add_epi16(low[p], _mm256_maddubs_epi16(first, a));
                of_second = _mm256_add_epi16(of_second, _mm256_maddubs_epi16(second, b));
            }
        }
        for (int p = 0; p < Positions; ++p) {
            sums[p] = _mm256_madd_epi16(low[p], _mm256_set1_epi16(1));
            if constexpr (Bits == 8)
                sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(high[p], _mm256_set1_epi16(16)));
        }
    }

    static Floats zero() { return _mm256_setzero_ps(); }
    static Floats halves(const Eigen::half* in) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
    }
    static Floats scaled(Floats scale, float factor, Integers integers, std::int32_t offset, Floats sums) {
        const Floats number = _mm256_cvtepi32_ps(_mm256_add_epi32(integers, _mm256_set1_epi32(offset)));
        return _mm256_fmadd_ps(_mm256_mul_ps(scale, _mm256_set1_ps(factor)), number, sums);
    }
    static Floats added(Floats a, float factor, Floats sums) {
        return _mm256_fmadd_ps(a, _mm256_set1_ps(factor), sums);
    }
    static void store(Floats sums, float* out) { _mm256_storeu_ps(out, sums); }
};

#else

using Dot = PlainDot;

#endif

}  // namespace engine

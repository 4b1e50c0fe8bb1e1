#pragma once

// Dot products of unsigned codes of a matrix with signed 8-bit activations, by the widest instructions that the
// compiler may use: AVX-512 VNNI, AVX2 or plain C++. All give the same bits, because integers have no rounding, and
// because every multiplication and addition of floats is written as the one operation it is.
//
// A panel is `Dot::rows` rows of a matrix, one per lane. Its columns come in groups of 32, and a few neighbouring
// columns of a row, `Dot::columns_per_word`, are a word: their products are added within a lane. The codes of a group
// are its words, one after the other, each with all rows of the panel. A byte is a code of 8 bits, or two codes of 4:
// those of a column in 0 to 15 in its low half, and of the column 16 further in its high half.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <specsample/core/eigen.hpp>

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

/// The bits of the activations from `x` on that meet one word of a row.
inline std::int32_t word_at(const std::int8_t* x) {
    std::int32_t word;
    std::memcpy(&word, x, sizeof word);
    return word;
}

/// The plain form, which also defines what the others compute.
struct PlainDot {
    static constexpr int rows = 8;
    template <int Bits>
    static constexpr int columns_per_word = 4;
    template <int Bits>
    static constexpr int activation_bytes = 1;  ///< of a rounded activation
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
    static constexpr int columns_per_word = 4;
    template <int Bits>
    static constexpr int activation_bytes = 1;
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

/// A panel is two registers wide, so that an activation that was loaded meets twice as many codes.
struct Dot {
    static constexpr int rows = 16;
    template <int Bits>
    static constexpr int columns_per_word = Bits == 8 ? 2 : 4;
    template <int Bits>
    static constexpr int activation_bytes = Bits == 8 ? 2 : 1;
    template <int Bits>
    static constexpr int max_positions = 5;
    struct Integers {
        __m256i half[2];
    };
    struct Floats {
        __m256 half[2];
    };

    template <int Bits, int Positions>
    static void group(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
        if constexpr (Bits == 8)
            group_of_8(codes, x, sums);
        else
            group_of_4(codes, x, sums);
    }

    static Floats zero() { return {{_mm256_setzero_ps(), _mm256_setzero_ps()}}; }
    static Floats halves(const Eigen::half* in) {
        const auto* eight = reinterpret_cast<const __m128i*>(in);
        return {{_mm256_cvtph_ps(_mm_loadu_si128(eight)), _mm256_cvtph_ps(_mm_loadu_si128(eight + 1))}};
    }
    static Floats scaled(const Floats& scale, float factor, const Integers& integers, std::int32_t offset,
                         Floats sums) {
        for (int h = 0; h < 2; ++h) {
            const __m256 number = _mm256_cvtepi32_ps(_mm256_add_epi32(integers.half[h], _mm256_set1_epi32(offset)));
            sums.half[h] = _mm256_fmadd_ps(_mm256_mul_ps(scale.half[h], _mm256_set1_ps(factor)), number, sums.half[h]);
        }
        return sums;
    }
    static Floats added(const Floats& a, float factor, Floats sums) {
        for (int h = 0; h < 2; ++h) sums.half[h] = _mm256_fmadd_ps(a.half[h], _mm256_set1_ps(factor), sums.half[h]);
        return sums;
    }
    static void store(const Floats& sums, float* out) {
        for (int h = 0; h < 2; ++h) _mm256_storeu_ps(out + 8 * h, sums.half[h]);
    }

  private:
    /// Codes of 8 bits are multiplied as numbers of 16: the products of bytes would overflow their sums.
    template <int Positions>
    static void group_of_8(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
#pragma GCC unroll 16
        for (int word = 0; word < 16; ++word, codes += 2 * rows, x += 4) {
            const auto* stored = reinterpret_cast<const __m128i*>(codes);
            const __m256i halves[2] = {_mm256_cvtepu8_epi16(_mm_loadu_si128(stored)),
                                       _mm256_cvtepu8_epi16(_mm_loadu_si128(stored + 1))};
            for (int p = 0; p < Positions; ++p) {
                const __m256i two = _mm256_set1_epi32(word_at(x + p * 2 * group_columns));
                for (int h = 0; h < 2; ++h) {
                    const __m256i product = _mm256_madd_epi16(halves[h], two);
                    sums[p].half[h] = word == 0 ? product : _mm256_add_epi32(sums[p].half[h], product);
                    keep(sums[p].half[h]);
                }
            }
        }
    }

    /// Products of codes of 4 bits with activations add up to 16 bits over a whole group.
    template <int Positions>
    static void group_of_4(const std::uint8_t* codes, const std::int8_t* x, Integers (&sums)[Positions]) {
        const __m256i low = _mm256_set1_epi8(15);
        __m256i shorts[Positions][2];
#pragma GCC unroll 8
        for (int step = 0; step < 8; ++step) {
            const bool is_high = step % 2 == 1;  // the columns in the high halves of the bytes
            const auto* stored = reinterpret_cast<const __m256i*>(codes + step / 2 * 4 * rows);
            __m256i halves[2];
            for (int h = 0; h < 2; ++h) {
                const __m256i loaded = _mm256_loadu_si256(stored + h);
                halves[h] = _mm256_and_si256(is_high ? _mm256_srli_epi16(loaded, 4) : loaded, low);
            }
            for (int p = 0; p < Positions; ++p) {
                const int column = is_high * group_columns / 2 + step / 2 * 4;
                const __m256i four = _mm256_set1_epi32(word_at(x + p * group_columns + column));
                for (int h = 0; h < 2; ++h) {
                    const __m256i product = _mm256_maddubs_epi16(halves[h], four);
                    shorts[p][h] = step == 0 ? product : _mm256_add_epi16(shorts[p][h], product);
                    keep(shorts[p][h]);
                }
            }
        }
        for (int p = 0; p < Positions; ++p)
            for (int h = 0; h < 2; ++h) sums[p].half[h] = _mm256_madd_epi16(shorts[p][h], _mm256_set1_epi16(1));
    }

    /// Leaves an addition where it is written: g++ postpones those of a whole group, until their products no longer fit
    /// the registers.
    static void keep(__m256i& sum) { asm("" : "+x"(sum)); }
};

#else

using Dot = PlainDot;

#endif

}  // namespace engine

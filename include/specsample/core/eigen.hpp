// Eigen, for the headers that compute with it, and the products of numbers and packets that may not be fused.
#pragma once

#include <cstddef>
#include <type_traits>

#include <specsample/core/config.hpp>
#include <specsample/core/types.hpp>

#if !__has_include(<Eigen/Core>)
#error \
    "specsample needs Eigen 3.4 or newer: install it (Debian, Ubuntu: apt install libeigen3-dev) and add its include path, for example -I/usr/include/eigen3"
#endif

// With AVX-512, g++ 12 warns of uninitialised variables inside its own intrinsics (GCC bug 105593). The pragmas must be
// in force at the first include of the intrinsics: later ones have no effect.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#include <Eigen/Core>
#pragma GCC diagnostic pop
#else
#include <Eigen/Core>
#endif

// SPECSAMPLE_ABI is made without Eigen.
#if defined(__x86_64__) && SPECSAMPLE_ABI_BYTES != EIGEN_MAX_STATIC_ALIGN_BYTES
#error "specsample: SPECSAMPLE_ABI must name the width of Eigen's registers"
#elif defined(__x86_64__) && defined(EIGEN_VECTORIZE_FMA) && !defined(__FMA__)
#error "specsample: SPECSAMPLE_ABI must name Eigen's fused multiply-adds"
#endif

namespace specsample { inline namespace SPECSAMPLE_ABI {

static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0), "specsample needs Eigen 3.4 or newer");
// Without Eigen, core/types.hpp states Index, and core/row_kinds.hpp the bit.
static_assert(std::is_same_v<Index, Eigen::Index> && Eigen::DirectAccessBit == 0x40, "what core knows without Eigen");

/// A batch of rows: one position per row, contiguous in memory.
template <class Scalar>
using RowMajorMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace detail {

// A file that links specsample::compiled and has loops of its own shares templates with it. This name is missing where
// the flags differ: such a file includes <specsample/values.hpp> alone, or links specsample::specsample.
#if defined(SPECSAMPLE_COMPILED) && !defined(SPECSAMPLE_LOOPS) && defined(__GNUC__)
extern "C" const char SPECSAMPLE_FLAGS(specsample_compiled_for_);
[[gnu::used]] static const char* const specsample_flags = &SPECSAMPLE_FLAGS(specsample_compiled_for_);
#endif

/// Return `x`, a product, rounded to its own type before anything is added to it.
///
/// A compiler may contract a * b + c into one fused multiply-add, which skips the rounding of the product. Whether it
/// does depends on -march, on -ffp-contract and on inlining. A token must not depend on any of these, so this function
/// wraps every product in a sum that decides something.
///
/// @tparam T   float, double or a packet of them
/// @cost       no instruction: it only keeps the two operations apart
template <class T>
[[nodiscard]] EIGEN_ALWAYS_INLINE T rounded(T x) {
#if defined(__clang__) && defined(__SSE2__)
    asm("" : "+v"(x));  // with Eigen's barrier clang would take x through memory
#else
    EIGEN_OPTIMIZATION_BARRIER(x);
#endif
    return x;
}

}  // namespace detail

}}  // namespace specsample

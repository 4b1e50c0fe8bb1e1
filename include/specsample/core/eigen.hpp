// Eigen, for the headers that compute with it.
#pragma once

#include <cstddef>
#include <type_traits>

#include <specsample/core/config.hpp>
#include <specsample/core/types.hpp>

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

namespace specsample { inline namespace SPECSAMPLE_ABI {

static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0), "specsample needs Eigen 3.4 or newer");
static_assert(std::is_same_v<Index, Eigen::Index>, "specsample needs Eigen's own type of indices");
#if defined(__x86_64__)
static_assert(SPECSAMPLE_ABI_BYTES == EIGEN_MAX_STATIC_ALIGN_BYTES,
              "specsample: the inline namespace must name the width of Eigen's registers");
#if defined(EIGEN_VECTORIZE_FMA) && !defined(__FMA__)
#error "specsample: the inline namespace must name Eigen's fused multiply-adds"
#endif
#endif

/// A batch of rows: one position per row, contiguous in memory.
template <class Scalar>
using RowMajorMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}}  // namespace specsample

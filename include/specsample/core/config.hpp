// The version, the failure hook, and the inline namespace of a configuration. No other header leaves a macro behind.
//
//   SPECSAMPLE_FAIL(message)   replaces `throw` under -fno-exceptions. It prints and aborts, unless the user defines
//                              it as something else that does not return.
//   SPECSAMPLE_ABI             names an inline namespace that holds the whole library: abi_throws_simd16_ints_ieee,
//                              say. It spells out what changes the code of a header: how a failure ends (it throws,
//                              aborts, or calls the user's SPECSAMPLE_FAIL), fused multiply-adds, the width of the
//                              registers in bytes, the instructions that convert 16-bit numbers, and whether the
//                              compiler may forget NaN. Files that are compiled differently thus use different
//                              functions, and may be linked into one program. Files that link specsample::compiled
//                              share its functions, whose loops it chooses at run time: there the name is
//                              abi_throws_compiled_ieee, and a file with loops of its own must have the library's
//                              flags (core/eigen.hpp).
#pragma once

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "specsample needs C++20: compile with -std=c++20 (g++ 12, clang 16 or newer)"
#include <specsample needs C++20>  // there is none: the compiler stops here, at one error instead of thousands
#endif

#define SPECSAMPLE_VERSION_MAJOR 0
#define SPECSAMPLE_VERSION_MINOR 3
#define SPECSAMPLE_VERSION_PATCH 0

#if defined(__cpp_exceptions)
#define SPECSAMPLE_ABI_FAILURE throws
#elif defined(SPECSAMPLE_FAIL)
#define SPECSAMPLE_ABI_FAILURE calls
#else
#include <cstdio>
#include <cstdlib>
#define SPECSAMPLE_FAIL(message) (std::fprintf(stderr, "%s\n", (message)), std::abort())
#define SPECSAMPLE_ABI_FAILURE aborts
#endif

// What Eigen makes of the compiler's flags, without Eigen, which a program that links the compiled library can do
// without. core/eigen.hpp checks it.
#if !defined(EIGEN_DONT_VECTORIZE) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#define SPECSAMPLE_ABI_SIMD fma
#else
#define SPECSAMPLE_ABI_SIMD simd
#endif

#if defined(EIGEN_MAX_STATIC_ALIGN_BYTES)  // by the user, or by Eigen
#define SPECSAMPLE_ABI_BYTES EIGEN_MAX_STATIC_ALIGN_BYTES
#elif defined(EIGEN_DONT_VECTORIZE) || defined(EIGEN_DONT_ALIGN) || defined(EIGEN_DONT_ALIGN_STATICALLY)
#define SPECSAMPLE_ABI_BYTES 0
#elif defined(__AVX512F__)
#define SPECSAMPLE_ABI_BYTES 64
#elif defined(__AVX__)
#define SPECSAMPLE_ABI_BYTES 32
#else
#define SPECSAMPLE_ABI_BYTES 16
#endif

#if defined(__AVX512VBMI__) && defined(__F16C__)
#define SPECSAMPLE_ABI_HALVES vbmi
#elif defined(__AVX2__) && defined(__F16C__)
#define SPECSAMPLE_ABI_HALVES f16c
#elif defined(__AVX2__)
#define SPECSAMPLE_ABI_HALVES avx2
#else
#define SPECSAMPLE_ABI_HALVES ints
#endif

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#define SPECSAMPLE_ABI_MATH finite
#else
#define SPECSAMPLE_ABI_MATH ieee
#endif

#define SPECSAMPLE_PASTE_FLAGS(prefix, simd, bytes, halves) prefix##simd##bytes##_##halves
#define SPECSAMPLE_NAME_FLAGS(prefix, simd, bytes, halves) SPECSAMPLE_PASTE_FLAGS(prefix, simd, bytes, halves)
#define SPECSAMPLE_PASTE_ABI(failure, loops, math) abi_##failure##_##loops##_##math
#define SPECSAMPLE_NAME_ABI(failure, loops, math) SPECSAMPLE_PASTE_ABI(failure, loops, math)

// A name for the flags that loops are compiled with: simd16_ints, say.
#define SPECSAMPLE_FLAGS(prefix) \
    SPECSAMPLE_NAME_FLAGS(prefix, SPECSAMPLE_ABI_SIMD, SPECSAMPLE_ABI_BYTES, SPECSAMPLE_ABI_HALVES)

#if defined(SPECSAMPLE_COMPILED)
#define SPECSAMPLE_ABI SPECSAMPLE_NAME_ABI(SPECSAMPLE_ABI_FAILURE, compiled, SPECSAMPLE_ABI_MATH)
#else
#define SPECSAMPLE_ABI SPECSAMPLE_NAME_ABI(SPECSAMPLE_ABI_FAILURE, SPECSAMPLE_FLAGS(), SPECSAMPLE_ABI_MATH)
#endif

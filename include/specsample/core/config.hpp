// The version and the failure hook. No other header defines macros.
//
//   SPECSAMPLE_FAIL(message)   replaces `throw` under -fno-exceptions. It prints and aborts, unless the user defines
//                              it as something else that does not return.
#pragma once

#if !__has_include(<Eigen/Core>)
#error \
    "specsample needs Eigen 3.4 or newer: install it (Debian, Ubuntu: apt install libeigen3-dev) and add its include path, for example -I/usr/include/eigen3"
#endif

#include <Eigen/Core>

#define SPECSAMPLE_VERSION_MAJOR 0
#define SPECSAMPLE_VERSION_MINOR 1
#define SPECSAMPLE_VERSION_PATCH 0

#if !defined(__cpp_exceptions) && !defined(SPECSAMPLE_FAIL)
#include <cstdio>
#include <cstdlib>
#define SPECSAMPLE_FAIL(message) (std::fprintf(stderr, "%s\n", (message)), std::abort())
#endif

static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0), "specsample needs Eigen 3.4 or newer");

// Floor 1, the kernels: they reduce rows to numbers and draw tokens from weights. All SIMD code over rows is here.
#pragma once

#include <specsample/kernels/argmax.hpp>          // IWYU pragma: export
#include <specsample/kernels/draw.hpp>            // IWYU pragma: export
#include <specsample/kernels/entropy.hpp>         // IWYU pragma: export
#include <specsample/kernels/inspect.hpp>         // IWYU pragma: export
#include <specsample/kernels/logit_weights.hpp>   // IWYU pragma: export
#include <specsample/kernels/overlap.hpp>         // IWYU pragma: export
#include <specsample/kernels/race.hpp>            // IWYU pragma: export
#include <specsample/kernels/residual.hpp>        // IWYU pragma: export
#include <specsample/kernels/select_above.hpp>    // IWYU pragma: export
#include <specsample/kernels/select_mass.hpp>     // IWYU pragma: export
#include <specsample/kernels/select_top.hpp>      // IWYU pragma: export
#include <specsample/kernels/select_typical.hpp>  // IWYU pragma: export
#include <specsample/kernels/softmax.hpp>         // IWYU pragma: export
#include <specsample/kernels/top.hpp>             // IWYU pragma: export
#include <specsample/kernels/weights.hpp>         // IWYU pragma: export

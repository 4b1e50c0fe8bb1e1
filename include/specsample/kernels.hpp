// Floor 1: rows to numbers, weights and a random draw to a token. All the SIMD.
#pragma once

#include <specsample/kernels/argmax.hpp>          // IWYU pragma: export
#include <specsample/kernels/draw.hpp>            // IWYU pragma: export
#include <specsample/kernels/entropy.hpp>         // IWYU pragma: export
#include <specsample/kernels/inspect.hpp>         // IWYU pragma: export
#include <specsample/kernels/logits.hpp>          // IWYU pragma: export
#include <specsample/kernels/overlap.hpp>         // IWYU pragma: export
#include <specsample/kernels/race.hpp>            // IWYU pragma: export
#include <specsample/kernels/residual.hpp>        // IWYU pragma: export
#include <specsample/kernels/select_above.hpp>    // IWYU pragma: export
#include <specsample/kernels/select_mass.hpp>     // IWYU pragma: export
#include <specsample/kernels/select_top.hpp>      // IWYU pragma: export
#include <specsample/kernels/select_typical.hpp>  // IWYU pragma: export
#include <specsample/kernels/softmax.hpp>         // IWYU pragma: export
#include <specsample/kernels/sparse.hpp>          // IWYU pragma: export
#include <specsample/kernels/top.hpp>             // IWYU pragma: export
#include <specsample/kernels/weights.hpp>         // IWYU pragma: export

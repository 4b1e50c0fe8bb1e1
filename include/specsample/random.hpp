// Floor 4: random numbers with addresses. Rules draw through draw.hpp only.
#pragma once

#include <specsample/random/address.hpp>        // IWYU pragma: export
#include <specsample/random/draw.hpp>           // IWYU pragma: export
#include <specsample/random/generator_rng.hpp>  // IWYU pragma: export
#include <specsample/random/lanes.hpp>          // IWYU pragma: export
#include <specsample/random/philox.hpp>         // IWYU pragma: export
#include <specsample/random/rng.hpp>            // IWYU pragma: export
#include <specsample/random/watermark.hpp>      // IWYU pragma: export

// Floor 2: random draws. A rule draws through draw.hpp only.
#pragma once

#include <specsample/random/address.hpp>  // IWYU pragma: export
#include <specsample/random/draw.hpp>     // IWYU pragma: export
#include <specsample/random/philox.hpp>   // IWYU pragma: export
#include <specsample/random/rng.hpp>      // IWYU pragma: export

// Floor 9: the tools that prove a rule lossless, the library's or your own. Not part of <specsample/specsample.hpp>.
//
//   distance_from_target(rule, draft, target, lookahead)   0 to rounding for a lossless rule
#pragma once

#include <specsample/testing/distribution.hpp>  // IWYU pragma: export
#include <specsample/testing/enumerate.hpp>     // IWYU pragma: export
#include <specsample/testing/models.hpp>        // IWYU pragma: export
#include <specsample/testing/scripted.hpp>      // IWYU pragma: export
#include <specsample/testing/shared_race.hpp>   // IWYU pragma: export

// Floor 4: rules that change the text's distribution for more accepted tokens, and say by how much.
//
// Substituted targets, pi(p, q) in front of an exact walk:
//   Transformed{transform, rule}    Mentored; Chow, Diff, Opt, TokenV1 .. V3 (cascades); Fuzzy
// Thresholds, on the top-down walk:
//   after a rejection from the residual of pLenience, UniformBound, RatioThreshold, Cactus, TreeThresholds
//   from p                                TypicalAcceptance, BigLittle, PathHeuristic
//   the likeliest                         RelaxedTopN, TopKMembership, GreedyLenience
// Each has rule.distribution(q, p), its exact distribution at one position.
#pragma once

#include <specsample/lossy/big_little.hpp>       // IWYU pragma: export
#include <specsample/lossy/cactus.hpp>           // IWYU pragma: export
#include <specsample/lossy/cascade.hpp>          // IWYU pragma: export
#include <specsample/lossy/distribution.hpp>     // IWYU pragma: export
#include <specsample/lossy/divergence.hpp>       // IWYU pragma: export
#include <specsample/lossy/fuzzy.hpp>            // IWYU pragma: export
#include <specsample/lossy/lenience.hpp>         // IWYU pragma: export
#include <specsample/lossy/mentored.hpp>         // IWYU pragma: export
#include <specsample/lossy/path_heuristic.hpp>   // IWYU pragma: export
#include <specsample/lossy/paths.hpp>            // IWYU pragma: export
#include <specsample/lossy/ranked.hpp>           // IWYU pragma: export
#include <specsample/lossy/ratio_threshold.hpp>  // IWYU pragma: export
#include <specsample/lossy/transformed.hpp>      // IWYU pragma: export
#include <specsample/lossy/tree_thresholds.hpp>  // IWYU pragma: export
#include <specsample/lossy/typical.hpp>          // IWYU pragma: export
#include <specsample/lossy/uniform_bound.hpp>    // IWYU pragma: export

// Floor 8: rules that change the text's distribution to accept more tokens, and compute by how much.
//
// Substituted targets: an exact rule judges the draft against pi(q, p) instead of p:
//   Transformed(transform, rule)              Mentored; Chow, Diff, Opt, TokenV1 .. TokenV3 (cascades); Fuzzy
// Changed acceptance tests, by the distribution of the last token after a rejection:
//   the residual of p                         Lenience, UniformBound, RatioThreshold, Cactus, TreeThresholds
//   p itself                                  TypicalAcceptance, BigLittle, PathHeuristic
//   the likeliest token                       RelaxedTopN, TopKMembership, GreedyLenience
// Every rule has rule.distribution(q, p), its exact output distribution at one position.
#pragma once

#include <specsample/lossy/big_little.hpp>       // IWYU pragma: export
#include <specsample/lossy/cactus.hpp>           // IWYU pragma: export
#include <specsample/lossy/cascade.hpp>          // IWYU pragma: export
#include <specsample/lossy/distribution.hpp>     // IWYU pragma: export
#include <specsample/lossy/divergence.hpp>       // IWYU pragma: export
#include <specsample/lossy/mentored.hpp>         // IWYU pragma: export
#include <specsample/lossy/path_heuristic.hpp>   // IWYU pragma: export
#include <specsample/lossy/paths.hpp>            // IWYU pragma: export
#include <specsample/lossy/ranked.hpp>           // IWYU pragma: export
#include <specsample/lossy/relaxed.hpp>          // IWYU pragma: export
#include <specsample/lossy/transformed.hpp>      // IWYU pragma: export
#include <specsample/lossy/tree_thresholds.hpp>  // IWYU pragma: export
#include <specsample/lossy/typical.hpp>          // IWYU pragma: export

// Floor 8: rules that change the text's distribution to accept more tokens, and compute by how much.
//
//   Transformed(transform, rule)   an exact rule judges against pi(q, p): Mentored; Chow .. TokenV3 (cascades); Fuzzy
//   thresholds.hpp, ranked.hpp     a token is accepted by a few numbers; thresholds.hpp has the table
//   paths.hpp                      a path of the tree is accepted as a whole
//   Cactus                         p is lifted at the drafted token
//
// output_distribution(rule, q, p) is a rule's exact distribution at one position.
#pragma once

#include <specsample/lossy/cactus.hpp>         // IWYU pragma: export
#include <specsample/lossy/cascade.hpp>        // IWYU pragma: export
#include <specsample/lossy/distribution.hpp>   // IWYU pragma: export
#include <specsample/lossy/divergence.hpp>     // IWYU pragma: export
#include <specsample/lossy/drafted_token.hpp>  // IWYU pragma: export
#include <specsample/lossy/judged.hpp>         // IWYU pragma: export
#include <specsample/lossy/mentored.hpp>       // IWYU pragma: export
#include <specsample/lossy/paths.hpp>          // IWYU pragma: export
#include <specsample/lossy/ranked.hpp>         // IWYU pragma: export
#include <specsample/lossy/thresholds.hpp>     // IWYU pragma: export
#include <specsample/lossy/transformed.hpp>    // IWYU pragma: export

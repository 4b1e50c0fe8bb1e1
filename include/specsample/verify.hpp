// Floor 6: verify, which judges a draft by a rule, and the rules, each a few lines on one of three walks.
//
//   walk        decides first        rules
//   top-down    the root's children  TokenVerification, SpecInfer, RecursiveRejection, KSeq
//   bottom-up   the leaves           BlockVerification, TraversalVerification
//   match       the target's token   GreedyMatch, SampleMatch, GumbelMatch
#pragma once

#include <specsample/verify/arguments.hpp>     // IWYU pragma: export
#include <specsample/verify/block.hpp>         // IWYU pragma: export
#include <specsample/verify/draft_scores.hpp>  // IWYU pragma: export
#include <specsample/verify/k_seq.hpp>         // IWYU pragma: export
#include <specsample/verify/match.hpp>         // IWYU pragma: export
#include <specsample/verify/round.hpp>         // IWYU pragma: export
#include <specsample/verify/rule.hpp>          // IWYU pragma: export
#include <specsample/verify/scores.hpp>        // IWYU pragma: export
#include <specsample/verify/token.hpp>         // IWYU pragma: export
#include <specsample/verify/verify.hpp>        // IWYU pragma: export

// specsample: speculative sampling with exactly the target's law.
//
//    5  testing                                    the rig that proves a rule; include <specsample/testing.hpp>
//    4  sampler   lossy                            the loop; rules that change the law, and say by how much
//    3  verify   draft   length                    the rules, on the caller's own rows; drafters; how many to draft
//    2  random   shaping   proposal   analysis     coins; row -> row; drafts and their laws; rates and speed
//    1  kernels                                    rows -> numbers, weights x coin -> token
//    0  core + concepts                            nouns, contracts, what a user may plug in
#pragma once

#include <specsample/concepts.hpp>  // IWYU pragma: export
#include <specsample/core.hpp>      // IWYU pragma: export

#include <specsample/kernels.hpp>  // IWYU pragma: export

#include <specsample/analysis.hpp>  // IWYU pragma: export
#include <specsample/proposal.hpp>  // IWYU pragma: export
#include <specsample/random.hpp>    // IWYU pragma: export
#include <specsample/shaping.hpp>   // IWYU pragma: export

#include <specsample/draft.hpp>   // IWYU pragma: export
#include <specsample/length.hpp>  // IWYU pragma: export
#include <specsample/verify.hpp>  // IWYU pragma: export

#include <specsample/lossy.hpp>    // IWYU pragma: export
#include <specsample/sampler.hpp>  // IWYU pragma: export

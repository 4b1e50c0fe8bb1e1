// specsample: speculative sampling with exactly the target's distribution. The table of contents, in floor order.
//
//    6  testing                                      proofs that a rule is lossless: <specsample/testing.hpp>
//    5  beam                                         speculative beam search
//    4  sampler   lossy                              the loop over rounds; rules that change the distribution
//    3  verify   drafters   length   vocabularies    rules; drafters; draft lengths; drafts of another vocabulary
//    2  random   shaping   tree   metrics   theory   random numbers; filters; drafted trees; counts; speed-up
//    1  kernels                                      passes over one row: sums, draws, races, softmax, selection
//    0  core + concepts                              basic types, contracts, everything that a user may plug in
#pragma once

#include <specsample/concepts.hpp>  // IWYU pragma: export
#include <specsample/core.hpp>      // IWYU pragma: export

#include <specsample/kernels.hpp>  // IWYU pragma: export

#include <specsample/metrics.hpp>  // IWYU pragma: export
#include <specsample/random.hpp>   // IWYU pragma: export
#include <specsample/shaping.hpp>  // IWYU pragma: export
#include <specsample/theory.hpp>   // IWYU pragma: export
#include <specsample/tree.hpp>     // IWYU pragma: export

#include <specsample/drafters.hpp>      // IWYU pragma: export
#include <specsample/length.hpp>        // IWYU pragma: export
#include <specsample/verify.hpp>        // IWYU pragma: export
#include <specsample/vocabularies.hpp>  // IWYU pragma: export

#include <specsample/lossy.hpp>    // IWYU pragma: export
#include <specsample/sampler.hpp>  // IWYU pragma: export

#include <specsample/beam.hpp>  // IWYU pragma: export

// specsample: speculative sampling with exactly the target's distribution. The table of contents, in floor order.
//
//    8  testing                                      proofs that a rule is lossless: <specsample/testing.hpp>
//    7  beam                                         speculative beam search
//    6  sampler   lossy                              the loop over rounds; rules that change the distribution
//    5  verify   drafters   length   vocabularies    rules; drafters; draft lengths; drafts of another vocabulary
//    4  random   shaping   tree   metrics   theory   random numbers; filters; drafted trees; counts; speed-up
//    3  models + concepts                            calls, rollbacks and adaptors; everything that a user may plug in
//    2  rows                                         what a row is: dense, logits, sparse; who owns it
//    1  kernels                                      passes over one row: sums, draws, races, softmax, selection
//    0  core                                         basic types, faults, contracts, counters
#pragma once

#include <specsample/core.hpp>  // IWYU pragma: export

#include <specsample/kernels.hpp>  // IWYU pragma: export

#include <specsample/rows.hpp>  // IWYU pragma: export

#include <specsample/concepts.hpp>  // IWYU pragma: export
#include <specsample/models.hpp>    // IWYU pragma: export

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

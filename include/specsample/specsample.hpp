// specsample: speculative sampling with exactly the target's distribution. This header includes all that an
// unshaped text passes through, by floors:
//
//    7  sampler                                    the loop over rounds
//    6  verify   drafters   length                 lossless rules; drafters of chains, of trees, by lookup; lengths
//    5  tree                                       drafted trees
//    4  random                                     random numbers with addresses
//    3  models + concepts                          calls, rollbacks and adaptors; everything that a user may plug in
//    2  rows                                       what a row is: dense, logits, sparse; who owns it
//    1  kernels                                    passes over one row: sums, draws, races, softmax, selection
//    0  core                                       basic types, faults, contracts, counters
//
// Further headers, for programs that need them:
//
//    <specsample/kernels.hpp>          every kernel by its name
//    <specsample/shaping.hpp>          sampling parameters, filters and grammars
//    <specsample/random.hpp>           random numbers from a generator of your own
//    <specsample/drafters.hpp>         every drafter: heads, suffix automaton, n-gram pools, beams, unions
//    <specsample/sampler/staged.hpp>   a drafter that drafts by rounds of two smaller models
//    <specsample/length.hpp>           draft lengths that adapt, and stops that end a draft early
//    <specsample/verify.hpp>           every lossless rule: KSeq, too; the scores of drafted tokens
//    <specsample/verify/batch.hpp>     batches: many requests in one call
//    <specsample/vocabularies.hpp>     draft models with another vocabulary
//    <specsample/tree.hpp>             attention masks, trees for known acceptance rates
//    <specsample/theory.hpp>           acceptance, speed-up, expected tokens, transport bounds
//    <specsample/metrics.hpp>          reports, exports, an audit of the text
//    <specsample/lossy.hpp>            rules that change the distribution
//    <specsample/beam.hpp>             speculative beam search
//    <specsample/shard.hpp>            rows split over ranks: each holds a slice of the vocabulary
//    <specsample/testing.hpp>          proofs that a rule is lossless
#pragma once

#include <specsample/core.hpp>              // IWYU pragma: export
#include <specsample/kernels/draw.hpp>      // IWYU pragma: export
#include <specsample/kernels/residual.hpp>  // IWYU pragma: export
#include <specsample/kernels/softmax.hpp>   // IWYU pragma: export
#include <specsample/rows.hpp>              // IWYU pragma: export

#include <specsample/concepts.hpp>  // IWYU pragma: export
#include <specsample/models.hpp>    // IWYU pragma: export

#include <specsample/random/draw.hpp>              // IWYU pragma: export
#include <specsample/tree/draft_tree.hpp>          // IWYU pragma: export
#include <specsample/tree/tree_shape.hpp>          // IWYU pragma: export

#include <specsample/drafters/chain.hpp>   // IWYU pragma: export
#include <specsample/drafters/lookup.hpp>  // IWYU pragma: export
#include <specsample/drafters/tree.hpp>    // IWYU pragma: export
#include <specsample/length/length.hpp>    // IWYU pragma: export
#include <specsample/verify/block.hpp>     // IWYU pragma: export
#include <specsample/verify/match.hpp>     // IWYU pragma: export
#include <specsample/verify/scores.hpp>    // IWYU pragma: export
#include <specsample/verify/token.hpp>     // IWYU pragma: export
#include <specsample/verify/verify.hpp>    // IWYU pragma: export

#include <specsample/sampler/sampler.hpp>  // IWYU pragma: export

#if defined(SPECSAMPLE_COMPILED)    // linked with specsample::compiled
#include <specsample/compiled.hpp>  // IWYU pragma: export
#endif

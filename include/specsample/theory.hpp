// Floor 4, theory: acceptance, expected tokens, speed-up, and bounds on them.
#pragma once

#include <specsample/theory/acceptance.hpp>       // IWYU pragma: export
#include <specsample/theory/best_lookahead.hpp>   // IWYU pragma: export
#include <specsample/theory/best_tree.hpp>        // IWYU pragma: export
#include <specsample/theory/expected_tokens.hpp>  // IWYU pragma: export
#include <specsample/theory/one_round_bound.hpp>  // IWYU pragma: export
#include <specsample/theory/rates.hpp>            // IWYU pragma: export
#include <specsample/theory/speedup.hpp>          // IWYU pragma: export
#include <specsample/theory/transport.hpp>        // IWYU pragma: export
#include <specsample/theory/verify_cost.hpp>      // IWYU pragma: export

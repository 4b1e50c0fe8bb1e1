// Floor 5, theory: acceptance, expected tokens, speed-up, and bounds on them.
#pragma once

#include <specsample/theory/acceptance.hpp>       // IWYU pragma: export
#include <specsample/theory/best_tree.hpp>        // IWYU pragma: export
#include <specsample/theory/expected_tokens.hpp>  // IWYU pragma: export
#include <specsample/theory/speedup.hpp>          // IWYU pragma: export
#include <specsample/theory/transport.hpp>        // IWYU pragma: export

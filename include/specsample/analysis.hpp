// Floor 2, analysis: how often drafts are accepted, what that is worth, how it is counted, reported and audited.
#pragma once

#include <specsample/analysis/acceptance.hpp>        // IWYU pragma: export
#include <specsample/analysis/audit.hpp>             // IWYU pragma: export
#include <specsample/analysis/best_lookahead.hpp>    // IWYU pragma: export
#include <specsample/analysis/best_tree.hpp>         // IWYU pragma: export
#include <specsample/analysis/estimate.hpp>          // IWYU pragma: export
#include <specsample/analysis/expected_tokens.hpp>   // IWYU pragma: export
#include <specsample/analysis/names.hpp>             // IWYU pragma: export
#include <specsample/analysis/one_round_bound.hpp>   // IWYU pragma: export
#include <specsample/analysis/overlap_estimate.hpp>  // IWYU pragma: export
#include <specsample/analysis/prometheus.hpp>        // IWYU pragma: export
#include <specsample/analysis/rates.hpp>             // IWYU pragma: export
#include <specsample/analysis/report.hpp>            // IWYU pragma: export
#include <specsample/analysis/speedup.hpp>           // IWYU pragma: export
#include <specsample/analysis/tally.hpp>             // IWYU pragma: export
#include <specsample/analysis/transport.hpp>         // IWYU pragma: export
#include <specsample/analysis/verify_cost.hpp>       // IWYU pragma: export

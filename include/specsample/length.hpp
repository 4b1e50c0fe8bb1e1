// Floor 3: how many tokens to draft: policies between rounds, stops inside a draft.
#pragma once

#include <specsample/length/acceptance_memory.hpp>  // IWYU pragma: export
#include <specsample/length/batch.hpp>              // IWYU pragma: export
#include <specsample/length/goodput.hpp>            // IWYU pragma: export
#include <specsample/length/heuristic.hpp>          // IWYU pragma: export
#include <specsample/length/length.hpp>             // IWYU pragma: export
#include <specsample/length/optimal_stopping.hpp>   // IWYU pragma: export
#include <specsample/length/round_times.hpp>        // IWYU pragma: export
#include <specsample/length/stops.hpp>              // IWYU pragma: export

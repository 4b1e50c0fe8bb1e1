// Floor 6, lengths: policies that choose the lookahead of each round, and stops that end a draft early.
#pragma once

#include <specsample/length/acceptance_memory.hpp>  // IWYU pragma: export
#include <specsample/length/batch.hpp>              // IWYU pragma: export
#include <specsample/length/confidence.hpp>         // IWYU pragma: export
#include <specsample/length/goodput.hpp>            // IWYU pragma: export
#include <specsample/length/length.hpp>             // IWYU pragma: export
#include <specsample/length/round_times.hpp>        // IWYU pragma: export
#include <specsample/length/stops.hpp>              // IWYU pragma: export
#include <specsample/length/verify_lengths.hpp>     // IWYU pragma: export

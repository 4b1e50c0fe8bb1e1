// Floor 7: Sampler, the loop over rounds, StagedDrafter, which drafts by rounds of two smaller models, and stop strings.
#pragma once

#include <specsample/sampler/options.hpp>       // IWYU pragma: export
#include <specsample/sampler/sampler.hpp>       // IWYU pragma: export
#include <specsample/sampler/staged.hpp>        // IWYU pragma: export
#include <specsample/sampler/stop_strings.hpp>  // IWYU pragma: export

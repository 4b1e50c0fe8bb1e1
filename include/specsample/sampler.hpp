// Floor 4: the loop, and rounds inside rounds.
#pragma once

#include <specsample/sampler/options.hpp>  // IWYU pragma: export
#include <specsample/sampler/sampler.hpp>  // IWYU pragma: export
#include <specsample/sampler/staged.hpp>   // IWYU pragma: export

// Floor 4: the loop.
#pragma once

#include <specsample/sampler/options.hpp>  // IWYU pragma: export
#include <specsample/sampler/sampler.hpp>  // IWYU pragma: export

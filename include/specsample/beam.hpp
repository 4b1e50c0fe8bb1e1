// Floor 8, beam: speculative beam search.
#pragma once

#include <specsample/beam/options.hpp>  // IWYU pragma: export
#include <specsample/beam/search.hpp>   // IWYU pragma: export
#include <specsample/beam/step.hpp>     // IWYU pragma: export
#include <specsample/beam/tree.hpp>     // IWYU pragma: export

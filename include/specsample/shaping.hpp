// Floor 2: rows to rows, before anything is drawn from them.
#pragma once

#include <specsample/shaping/pipeline.hpp>     // IWYU pragma: export
#include <specsample/shaping/shaped.hpp>       // IWYU pragma: export
#include <specsample/shaping/temperature.hpp>  // IWYU pragma: export
#include <specsample/shaping/top_p.hpp>        // IWYU pragma: export

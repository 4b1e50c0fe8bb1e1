// Floor 5, shaping: changes rows before tokens are drawn from them.
#pragma once

#include <specsample/shaping/bans.hpp>                 // IWYU pragma: export
#include <specsample/shaping/cursor.hpp>               // IWYU pragma: export
#include <specsample/shaping/cutoffs.hpp>              // IWYU pragma: export
#include <specsample/shaping/dynamic_temperature.hpp>  // IWYU pragma: export
#include <specsample/shaping/from_logits.hpp>          // IWYU pragma: export
#include <specsample/shaping/future.hpp>               // IWYU pragma: export
#include <specsample/shaping/grammar.hpp>              // IWYU pragma: export
#include <specsample/shaping/logit_bias.hpp>           // IWYU pragma: export
#include <specsample/shaping/mask.hpp>                 // IWYU pragma: export
#include <specsample/shaping/penalties.hpp>            // IWYU pragma: export
#include <specsample/shaping/pipeline.hpp>             // IWYU pragma: export
#include <specsample/shaping/repetition.hpp>           // IWYU pragma: export
#include <specsample/shaping/sampling_params.hpp>      // IWYU pragma: export
#include <specsample/shaping/shape.hpp>                // IWYU pragma: export
#include <specsample/shaping/shape_value.hpp>          // IWYU pragma: export
#include <specsample/shaping/shaped.hpp>               // IWYU pragma: export
#include <specsample/shaping/temperature.hpp>          // IWYU pragma: export
#include <specsample/shaping/token_mask.hpp>           // IWYU pragma: export
#include <specsample/shaping/truncation.hpp>           // IWYU pragma: export

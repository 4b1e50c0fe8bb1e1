// Floor 3, models: how a model is called, rolled back and adapted.
#pragma once

#include <specsample/models/adaptor.hpp>      // IWYU pragma: export
#include <specsample/models/ask.hpp>          // IWYU pragma: export
#include <specsample/models/host.hpp>         // IWYU pragma: export
#include <specsample/models/recurrent.hpp>    // IWYU pragma: export
#include <specsample/models/row_adaptor.hpp>  // IWYU pragma: export
#include <specsample/models/shared.hpp>       // IWYU pragma: export

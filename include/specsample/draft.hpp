// Floor 3: drafters: where proposals come from.
#pragma once

#include <specsample/draft/chain.hpp>     // IWYU pragma: export
#include <specsample/draft/children.hpp>  // IWYU pragma: export
#include <specsample/draft/drafter.hpp>   // IWYU pragma: export
#include <specsample/draft/tree.hpp>      // IWYU pragma: export

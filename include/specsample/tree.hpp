// Floor 5: drafted trees: their shape, and the distributions that their tokens were drawn from.
#pragma once

#include <specsample/tree/attention.hpp>     // IWYU pragma: export
#include <specsample/tree/distribution.hpp>  // IWYU pragma: export
#include <specsample/tree/draft_tree.hpp>    // IWYU pragma: export
#include <specsample/tree/endings.hpp>       // IWYU pragma: export
#include <specsample/tree/links.hpp>         // IWYU pragma: export
#include <specsample/tree/sparse_tree.hpp>   // IWYU pragma: export
#include <specsample/tree/tree_shape.hpp>    // IWYU pragma: export

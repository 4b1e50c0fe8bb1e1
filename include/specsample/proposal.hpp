// Floor 2: what was drafted: its shape, and the laws its tokens were drawn from.
#pragma once

#include <specsample/proposal/attention.hpp>    // IWYU pragma: export
#include <specsample/proposal/chain.hpp>        // IWYU pragma: export
#include <specsample/proposal/law.hpp>          // IWYU pragma: export
#include <specsample/proposal/proposal.hpp>     // IWYU pragma: export
#include <specsample/proposal/sparse_tree.hpp>  // IWYU pragma: export
#include <specsample/proposal/tree.hpp>         // IWYU pragma: export
#include <specsample/proposal/tree_shape.hpp>   // IWYU pragma: export

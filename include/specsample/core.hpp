// Floor 0: the basic types (tokens, rows, trees) and the errors of a broken contract.
#pragma once

#include <specsample/core/config.hpp>          // IWYU pragma: export
#include <specsample/core/contract.hpp>        // IWYU pragma: export
#include <specsample/core/eigen.hpp>           // IWYU pragma: export
#include <specsample/core/estimate.hpp>        // IWYU pragma: export
#include <specsample/core/fault.hpp>           // IWYU pragma: export
#include <specsample/core/ids.hpp>             // IWYU pragma: export
#include <specsample/core/list_ref.hpp>        // IWYU pragma: export
#include <specsample/core/number.hpp>          // IWYU pragma: export
#include <specsample/core/row.hpp>             // IWYU pragma: export
#include <specsample/core/row_kinds.hpp>       // IWYU pragma: export
#include <specsample/core/stop_predicate.hpp>  // IWYU pragma: export
#include <specsample/core/tally.hpp>           // IWYU pragma: export
#include <specsample/core/tree.hpp>            // IWYU pragma: export
#include <specsample/core/types.hpp>           // IWYU pragma: export

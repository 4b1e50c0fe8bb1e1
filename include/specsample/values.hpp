// Rows and origins as values: what an engine includes whose rows differ at run time, or that wants to compile fast.
// With specsample::compiled it does without Eigen.
#pragma once

#include <specsample/drafters/draft_value.hpp>  // IWYU pragma: export
#include <specsample/rows/row.hpp>              // IWYU pragma: export
#include <specsample/tree/origin.hpp>           // IWYU pragma: export
#include <specsample/verify/rules.hpp>          // IWYU pragma: export
#include <specsample/verify/value_scores.hpp>   // IWYU pragma: export
#include <specsample/verify/values.hpp>         // IWYU pragma: export

#if defined(SPECSAMPLE_COMPILED)           // linked with specsample::compiled
#include <specsample/compiled_values.hpp>  // IWYU pragma: export
#else
#include <specsample/verify/block.hpp>  // IWYU pragma: export
#include <specsample/verify/match.hpp>  // IWYU pragma: export
#include <specsample/verify/token.hpp>  // IWYU pragma: export
#endif

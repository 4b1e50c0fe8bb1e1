// Floor 2, rows: what a row is (dense, logits, sparse), and who owns it.
#pragma once

#include <specsample/rows/logits.hpp>  // IWYU pragma: export
#include <specsample/rows/memory.hpp>  // IWYU pragma: export
#include <specsample/rows/owner.hpp>   // IWYU pragma: export
#include <specsample/rows/rows.hpp>    // IWYU pragma: export
#include <specsample/rows/sparse.hpp>  // IWYU pragma: export

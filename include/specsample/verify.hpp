// Floor 3: the rules, each on one of the walks, and the one entry to all of them.
#pragma once

#include <specsample/verify/commit.hpp>  // IWYU pragma: export
#include <specsample/verify/round.hpp>   // IWYU pragma: export
#include <specsample/verify/token.hpp>   // IWYU pragma: export
#include <specsample/verify/verify.hpp>  // IWYU pragma: export

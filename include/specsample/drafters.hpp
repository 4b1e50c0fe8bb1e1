// Floor 6, drafters: the sources of draft trees.
#pragma once

#include <specsample/drafters/ahead.hpp>             // IWYU pragma: export
#include <specsample/drafters/any_drafter.hpp>       // IWYU pragma: export
#include <specsample/drafters/beam.hpp>              // IWYU pragma: export
#include <specsample/drafters/chain.hpp>             // IWYU pragma: export
#include <specsample/drafters/children.hpp>          // IWYU pragma: export
#include <specsample/drafters/choosing.hpp>          // IWYU pragma: export
#include <specsample/drafters/draft_token.hpp>       // IWYU pragma: export
#include <specsample/drafters/drafter.hpp>           // IWYU pragma: export
#include <specsample/drafters/forced.hpp>            // IWYU pragma: export
#include <specsample/drafters/heads.hpp>             // IWYU pragma: export
#include <specsample/drafters/heads_tree.hpp>        // IWYU pragma: export
#include <specsample/drafters/lattice.hpp>           // IWYU pragma: export
#include <specsample/drafters/lookup.hpp>            // IWYU pragma: export
#include <specsample/drafters/named.hpp>             // IWYU pragma: export
#include <specsample/drafters/ngram_index.hpp>       // IWYU pragma: export
#include <specsample/drafters/ngram_pool.hpp>        // IWYU pragma: export
#include <specsample/drafters/overlaps.hpp>          // IWYU pragma: export
#include <specsample/drafters/path_counts.hpp>       // IWYU pragma: export
#include <specsample/drafters/recycling.hpp>         // IWYU pragma: export
#include <specsample/drafters/suffix_automaton.hpp>  // IWYU pragma: export
#include <specsample/drafters/suffix_lookup.hpp>     // IWYU pragma: export
#include <specsample/drafters/tree.hpp>              // IWYU pragma: export
#include <specsample/drafters/united.hpp>            // IWYU pragma: export
#include <specsample/drafters/wire.hpp>              // IWYU pragma: export
#include <specsample/drafters/wire_format.hpp>       // IWYU pragma: export

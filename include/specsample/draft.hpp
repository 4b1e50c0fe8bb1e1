// Floor 3: drafters: where proposals come from.
#pragma once

#include <specsample/draft/beam.hpp>              // IWYU pragma: export
#include <specsample/draft/chain.hpp>             // IWYU pragma: export
#include <specsample/draft/children.hpp>          // IWYU pragma: export
#include <specsample/draft/draft_token.hpp>       // IWYU pragma: export
#include <specsample/draft/drafter.hpp>           // IWYU pragma: export
#include <specsample/draft/heads.hpp>             // IWYU pragma: export
#include <specsample/draft/heads_tree.hpp>        // IWYU pragma: export
#include <specsample/draft/lookup.hpp>            // IWYU pragma: export
#include <specsample/draft/ngram_index.hpp>       // IWYU pragma: export
#include <specsample/draft/ngram_pool.hpp>        // IWYU pragma: export
#include <specsample/draft/suffix_automaton.hpp>  // IWYU pragma: export
#include <specsample/draft/suffix_lookup.hpp>     // IWYU pragma: export
#include <specsample/draft/tree.hpp>              // IWYU pragma: export
#include <specsample/draft/united.hpp>            // IWYU pragma: export

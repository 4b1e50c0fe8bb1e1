// Floor 8, vocabularies: draft models whose vocabulary is not the target's.
#pragma once

#include <specsample/vocabularies/id_map.hpp>         // IWYU pragma: export
#include <specsample/vocabularies/id_map_texts.hpp>   // IWYU pragma: export
#include <specsample/vocabularies/mapped.hpp>         // IWYU pragma: export
#include <specsample/vocabularies/mapped_prefix.hpp>  // IWYU pragma: export
#include <specsample/vocabularies/mapped_row.hpp>     // IWYU pragma: export
#include <specsample/vocabularies/mapped_value.hpp>   // IWYU pragma: export
#include <specsample/vocabularies/reduced_mask.hpp>   // IWYU pragma: export
#include <specsample/vocabularies/reencoded.hpp>      // IWYU pragma: export
#include <specsample/vocabularies/short_context.hpp>  // IWYU pragma: export

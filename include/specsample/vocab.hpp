// Floor 3, vocab: drafts of another vocabulary than the target's.
#pragma once

#include <specsample/vocab/id_map.hpp>         // IWYU pragma: export
#include <specsample/vocab/id_map_texts.hpp>   // IWYU pragma: export
#include <specsample/vocab/mapped.hpp>         // IWYU pragma: export
#include <specsample/vocab/mapped_prefix.hpp>  // IWYU pragma: export
#include <specsample/vocab/mapped_row.hpp>     // IWYU pragma: export

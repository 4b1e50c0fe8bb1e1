// A token id, as in checkpoints and tokenizers.
#pragma once

#include <cstdint>

namespace engine {

using Token = std::int32_t;

}  // namespace engine

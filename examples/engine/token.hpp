// A token id, as checkpoints and tokenizers count them.
#pragma once

#include <cstdint>

namespace engine {

using Token = std::int32_t;

}  // namespace engine

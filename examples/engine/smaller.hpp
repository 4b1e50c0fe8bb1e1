#pragma once

// Smaller copies of a model, which draft for it without any training.

#include <memory>

#include "engine/checkpoint.hpp"

namespace engine {

/// A copy with int8 rows and one scale per row, which maps the largest value of a row to 127: a quarter of the bytes.
std::shared_ptr<const Weights> quantised(const Weights& weights);

/// A copy with `layers` of its layers: the first ones and the last, since those in the middle matter least.
/// Throws std::invalid_argument unless 1 <= layers <= the number of its layers.
///
/// Men et al. 2024, "ShortGPT", arXiv:2403.03853.
std::shared_ptr<const Weights> pruned(const Weights& weights, Index layers);

}  // namespace engine

#pragma once

// Smaller copies of a model, to draft for it without any training.

#include <memory>

#include "engine/checkpoint.hpp"

namespace engine {

/// The same with int8 rows and one scale per row, the largest value of a row being 127: a quarter of the bytes.
std::shared_ptr<const Weights> quantised(const Weights& weights);

/// The same with `layers` of its layers: the first ones and the last, as those in the middle are missed least.
/// Throws std::invalid_argument unless 1 <= layers <= those that it has.
///
/// Men et al. 2024, "ShortGPT", arXiv:2403.03853.
std::shared_ptr<const Weights> pruned(const Weights& weights, Index layers);

}  // namespace engine

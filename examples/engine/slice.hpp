#pragma once

// One rank's slice of a model whose head is split over several ranks.

#include <memory>

#include "engine/checkpoint.hpp"

namespace engine {

/// A copy that computes the logits of the ids [first, first + count) alone, with the bits that they have in the whole
/// model, and holds these rows of the classifier only. It still reads every id.
/// Throws std::invalid_argument unless the slice is inside the vocabulary and has an id.
std::shared_ptr<const Weights> sliced(const Weights& weights, Index first, Index count);

}  // namespace engine

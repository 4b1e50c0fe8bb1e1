// Shapers behind one type, so that a sampler is compiled once for all of them.
#pragma once

#include <functional>
#include <span>

#include <specsample/shaping/candidates.hpp>

namespace any {

/// Any shaper of rows of doubles.
using Shaper =
    std::function<void(specsample::filters::Candidates<double>& row, std::span<const specsample::Token> context)>;

}  // namespace any

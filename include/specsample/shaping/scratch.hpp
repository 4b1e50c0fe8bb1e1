// Memory that shapers reuse from row to row.
#pragma once

#include <concepts>
#include <vector>

#include <specsample/core/row.hpp>

namespace specsample {

struct ShapingScratch {
    std::vector<Token> ids;
};

/// A row to a row, in place: from a distribution to a distribution, giving nothing to a token that had nothing.
template <class S>
concept Shaper =
    requires(const S& shaper, Eigen::Map<Eigen::ArrayXf>& probs, ShapingScratch& scratch) { shaper(probs, scratch); };

}  // namespace specsample

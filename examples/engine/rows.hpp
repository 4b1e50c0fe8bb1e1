#pragma once

// Rows of floats, one per position, as the engine's parts hand them on.

#include <specsample/core/eigen.hpp>

namespace engine {

using Index = Eigen::Index;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Ref<RowMatrix, 0, Eigen::OuterStride<>>;
using ConstRows = Eigen::Ref<const RowMatrix, 0, Eigen::OuterStride<>>;

constexpr Index divide_up(Index value, Index divisor) { return (value + divisor - 1) / divisor; }
constexpr Index round_up(Index value, Index multiple) { return divide_up(value, multiple) * multiple; }

}  // namespace engine

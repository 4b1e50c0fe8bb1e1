#pragma once

// The parts of a Llama block that act on one position at a time. Kept apart from the loops over positions, so that the
// compiler makes one version of each and a position's bits cannot depend on its neighbours.

#include <span>

#include "engine/kernel.hpp"

namespace engine {

/// One position's vector, at the start of an aligned row: the place where Eigen switches between SIMD and scalar code
/// then depends on the length alone.
using Vector = Eigen::Map<Eigen::ArrayXf, Eigen::AlignedMax>;
using ConstVector = Eigen::Map<const Eigen::ArrayXf, Eigen::AlignedMax>;

/// out = x / rms(x) * weights, where the mean square has `epsilon` added
void rms_norm(const ConstVector& x, const Eigen::ArrayXf& weights, float epsilon, Vector out);

/// scores = softmax(scale * scores)
void softmax(Vector scores, float scale);

/// gate = silu(gate) * up, for as many elements of `up`
void swiglu(Vector gate, const float* up);

/// Turns neighbouring pairs of a head by angles that grow with the position.
class RotaryEmbedding {
  public:
    RotaryEmbedding(Index head_size, Index context, float theta);

    /// Rotates `heads`, a whole number of heads, as at `position`.
    void rotate(std::span<float> heads, Index position) const;

  private:
    RowMatrix cosines_;  // context x head size / 2
    RowMatrix sines_;
};

}  // namespace engine

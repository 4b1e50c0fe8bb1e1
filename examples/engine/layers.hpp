#pragma once

// The parts of a Llama block that act on one position at a time. Kept apart from the loops over positions, so that the
// compiler makes one version of each and a position's bits cannot depend on its neighbours.

#include <span>

#include "engine/kernel.hpp"

namespace engine {

/// One position's vector, at the start of an aligned row: where Eigen switches between SIMD and scalar code then
/// depends on the length alone.
using Vector = Eigen::Map<Eigen::ArrayXf, Eigen::AlignedMax>;
using ConstVector = Eigen::Map<const Eigen::ArrayXf, Eigen::AlignedMax>;

/// Row stride, in floats, that keeps every row of a buffer aligned and filled up for int8 words.
constexpr Index aligned_width(Index width) { return round_up(width, 16); }

/// out = x / rms(x) * weights
void rms_norm(const ConstVector& x, const Eigen::ArrayXf& weights, Vector out);

/// scores = softmax(scale * scores)
void softmax(Vector scores, float scale);

/// out = silu(gate) * up, where `gate_up` holds the two halves one behind the other
void swiglu(const ConstVector& gate_up, Vector out);

/// Turns neighbouring pairs of a head by angles that grow with the position (theta 10000).
class RotaryEmbedding {
  public:
    RotaryEmbedding(Index head_size, Index context);

    /// Rotates `heads`, a whole number of heads, as at `position`.
    void rotate(std::span<float> heads, Index position) const;

  private:
    RowMatrix cosines_;  // context x head size / 2
    RowMatrix sines_;
};

struct AttentionShape {
    Index layers;
    Index heads;
    Index kv_heads;
    Index head_size;
    Index context;
};

/// The keys and values of the positions fed so far, laid out for `multiply`: a head's keys are a matrix of context x
/// head size, its values one of head size x context.
class Attention {
  public:
    explicit Attention(const AttentionShape& shape);

    /// Memory that an Attention of this shape takes; a double, because a file may claim any shape.
    static double bytes(const AttentionShape& shape);

    /// Stores one position's keys and values, all heads behind each other.
    void write(Index layer, Index position, const float* keys, const float* values);

    /// Lets one position's queries attend to the positions 0 to `position`.
    void attend(Index layer, Index position, const float* queries, float* out);

  private:
    AttentionShape shape_;
    RowMatrix keys_;    // one row per layer and head
    RowMatrix values_;  // likewise
    RowMatrix scores_;  // of the query heads that share a key head
};

}  // namespace engine

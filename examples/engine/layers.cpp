#include "engine/layers.hpp"

#include <cmath>
#include <type_traits>

namespace engine {
namespace {

constexpr float rms_epsilon = 1e-5f;
constexpr double rope_theta = 10000.0;

template <class Matrix>
auto strided(Matrix* data, Index rows, Index columns, Index stride) {
    using Plain = std::conditional_t<std::is_const_v<Matrix>, const RowMatrix, RowMatrix>;
    return Eigen::Map<Plain, 0, Eigen::OuterStride<>>(data, rows, columns, Eigen::OuterStride<>(stride));
}

}  // namespace

void rms_norm(const ConstVector& x, const Eigen::ArrayXf& weights, Vector out) {
    const float mean_square = x.square().sum() / static_cast<float>(x.size());
    out = x * (1.0f / std::sqrt(mean_square + rms_epsilon)) * weights;
}

void softmax(Vector scores, float scale) {
    scores = (scale * (scores - scores.maxCoeff())).exp();
    scores *= 1.0f / scores.sum();
}

void swiglu(const ConstVector& gate_up, Vector out) {
    const auto gate = gate_up.head(out.size());
    out = gate / (1.0f + (-gate).exp()) * gate_up.tail(out.size());
}

RotaryEmbedding::RotaryEmbedding(Index head_size, Index context)
    : cosines_(context, head_size / 2), sines_(context, head_size / 2) {
    for (Index pair = 0; pair < head_size / 2; ++pair) {
        const double frequency =
            std::pow(rope_theta, -2.0 * static_cast<double>(pair) / static_cast<double>(head_size));
        for (Index position = 0; position < context; ++position) {
            const double angle = static_cast<double>(position) * frequency;
            cosines_(position, pair) = static_cast<float>(std::cos(angle));
            sines_(position, pair) = static_cast<float>(std::sin(angle));
        }
    }
}

void RotaryEmbedding::rotate(std::span<float> heads, Index position) const {
    const Index pairs = cosines_.cols();
    const float* cosine = cosines_.data() + position * pairs;
    const float* sine = sines_.data() + position * pairs;
    float* const end = heads.data() + heads.size();
    for (float* head = heads.data(); head != end; head += 2 * pairs) {
        for (Index pair = 0; pair < pairs; ++pair) {
            const float a = head[2 * pair];
            const float b = head[2 * pair + 1];
            head[2 * pair] = a * cosine[pair] - b * sine[pair];
            head[2 * pair + 1] = a * sine[pair] + b * cosine[pair];
        }
    }
}

Attention::Attention(const AttentionShape& shape)
    : shape_(shape),
      keys_(RowMatrix::Zero(shape.layers * shape.kv_heads, round_up(shape.context, panel_rows) * shape.head_size)),
      values_(RowMatrix::Zero(shape.layers * shape.kv_heads, round_up(shape.head_size, panel_rows) * shape.context)),
      scores_(RowMatrix::Zero(shape.heads / shape.kv_heads, aligned_width(shape.context))) {}

double Attention::bytes(const AttentionShape& shape) {
    const auto keys = static_cast<double>(round_up(shape.context, panel_rows)) * static_cast<double>(shape.head_size);
    const auto values = static_cast<double>(round_up(shape.head_size, panel_rows)) * static_cast<double>(shape.context);
    const auto scores = static_cast<double>(shape.heads) * static_cast<double>(aligned_width(shape.context));
    return sizeof(float) * (static_cast<double>(shape.layers * shape.kv_heads) * (keys + values) + scores);
}

void Attention::write(Index layer, Index position, const float* keys, const float* values) {
    const Index size = shape_.head_size;
    for (Index head = 0; head < shape_.kv_heads; ++head, keys += size, values += size) {
        const Index row = layer * shape_.kv_heads + head;
        float* key = &keys_(row, position / panel_rows * panel_rows * size + position % panel_rows);
        for (Index i = 0; i < size; ++i) {
            key[i * panel_rows] = keys[i];
            values_(row, (i / panel_rows * shape_.context + position) * panel_rows + i % panel_rows) = values[i];
        }
    }
}

void Attention::attend(Index layer, Index position, const float* queries, float* out) {
    const Index size = shape_.head_size;
    const Index length = position + 1;
    const Index shared_by = shape_.heads / shape_.kv_heads;
    const float scale = 1.0f / std::sqrt(static_cast<float>(size));
    for (Index head = 0; head < shape_.kv_heads; ++head) {
        const Index row = layer * shape_.kv_heads + head;
        const Index first = head * shared_by * size;
        const PanelView<float> keys{&keys_(row, 0), panel_rows * size, length, size};
        const PanelView<float> values{&values_(row, 0), panel_rows * shape_.context, size, length};
        multiply(keys, strided(queries + first, shared_by, size, size), scores_);
        for (Index query = 0; query < shared_by; ++query) softmax(Vector(&scores_(query, 0), length), scale);
        multiply(values, scores_, strided(out + first, shared_by, size, size));
    }
}

}  // namespace engine

#include "engine/layers.hpp"

#include <cmath>

namespace engine {

void rms_norm(const ConstVector& x, const Eigen::ArrayXf& weights, float epsilon, Vector out) {
    const float mean_square = x.square().sum() / static_cast<float>(x.size());
    out = x * (1.0f / std::sqrt(mean_square + epsilon)) * weights;
}

void softmax(Vector scores, float scale) {
    scores = (scale * (scores - scores.maxCoeff())).exp();
    scores *= 1.0f / scores.sum();
}

void swiglu(Vector gate, const float* up) {
    gate = gate / (1.0f + (-gate).exp()) * Eigen::Map<const Eigen::ArrayXf>(up, gate.size());
}

RotaryEmbedding::RotaryEmbedding(Index head_size, Index context, float theta)
    : cosines_(context, head_size / 2), sines_(context, head_size / 2) {
    for (Index pair = 0; pair < head_size / 2; ++pair) {
        const double frequency =
            std::pow(static_cast<double>(theta), -2.0 * static_cast<double>(pair) / static_cast<double>(head_size));
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

}  // namespace engine

#include "engine/smaller.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace engine {
namespace {

PackedMatrix quantised(const PackedMatrix& matrix) {
    std::vector<std::int8_t> values;
    std::vector<float> scales;
    Eigen::ArrayXf row(matrix.columns());
    for (Index r = 0; r < matrix.rows(); ++r) {
        matrix.copy_row(r, row.data());
        const float scale = row.abs().maxCoeff() / 127;
        scales.push_back(scale);
        for (const float value : row)
            values.push_back(static_cast<std::int8_t>(scale > 0 ? std::lround(value / scale) : 0));
    }
    return {matrix.rows(), matrix.columns(), values, scales};
}

}  // namespace

std::shared_ptr<const Weights> quantised(const Weights& weights) {
    auto copy = std::make_shared<Weights>(weights);
    copy->embedding = quantised(copy->embedding);
    for (Layer& layer : copy->layers) {
        for (PackedMatrix* matrix : {&layer.query_key_value, &layer.attention_output, &layer.gate_up, &layer.down})
            *matrix = quantised(*matrix);
    }
    if (copy->untied_classifier) copy->untied_classifier = quantised(*copy->untied_classifier);
    return copy;
}

std::shared_ptr<const Weights> pruned(const Weights& weights, Index layers) {
    const Index all = weights.config.layers;
    if (layers < 1 || layers > all) {
        throw std::invalid_argument("cannot keep " + std::to_string(layers) + " of " + std::to_string(all) + " layers");
    }
    auto copy = std::make_shared<Weights>(weights);
    copy->config.layers = layers;
    const auto middle = copy->layers.begin() + (layers - 1);
    copy->layers.erase(middle, middle + (all - layers));
    return copy;
}

}  // namespace engine

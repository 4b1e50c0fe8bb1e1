#include "engine/slice.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace engine {

std::shared_ptr<const Weights> sliced(const Weights& weights, Index first, Index count) {
    const Index vocab = weights.config.vocab;
    if (first < 0 || count < 1 || first > vocab - count) {
        throw std::invalid_argument("a slice of " + std::to_string(count) + " ids from " + std::to_string(first) +
                                    " on is not one of a vocabulary of " + std::to_string(vocab));
    }
    auto copy = std::make_shared<Weights>(weights);
    std::vector<Index> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    copy->untied_classifier = weights.classifier().select(rows);
    return copy;
}

}  // namespace engine

#include "engine/batch.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace engine {

Batch::Batch(std::shared_ptr<const Weights> weights, std::shared_ptr<Team> team, Index texts, Index context)
    : trunk_(std::move(weights), std::move(team)), context_(context) {
    const Config& config = trunk_.weights()->config;
    if (texts < 1 || texts > Trunk::max_pass) {
        throw std::invalid_argument("Batch: texts is " + std::to_string(texts) + ", but must be 1 to " +
                                    std::to_string(Trunk::max_pass));
    }
    if (context < 1 || context > config.context) {
        throw std::invalid_argument("Batch: context is " + std::to_string(context) + ", but must be 1 to " +
                                    std::to_string(config.context));
    }
    const auto pages = std::make_shared<PagePool>(config.cache(), context);
    for (Index text = 0; text < texts; ++text) caches_.emplace_back(pages);
    logits_.resize(texts, trunk_.weights()->classifier().rows());
}

void Batch::clear(Index text) {
    cache(text).history.truncate(0);
    cache(text).attention.resize(0);
}

Logits Batch::forward(std::span<const Next> next) {
    std::vector<Place> places;
    for (const auto& [text, token] : next) {
        const Index vocab = trunk_.weights()->config.vocab;
        if (token < 0 || token >= vocab) {
            throw std::invalid_argument("token " + std::to_string(token) + " is outside the vocabulary of " +
                                        std::to_string(vocab));
        }
        const Index slot = length(text);
        if (slot == context_) {
            throw std::invalid_argument("text " + std::to_string(text) + " has no room behind " + std::to_string(slot) +
                                        " tokens");
        }
        places.push_back({&cache(text), slot});
    }
    for (const auto& [text, token] : next) {
        cache(text).attention.resize(length(text) + 1);
        cache(text).history.push(token, length(text) - 1, trunk_.weights()->config.layers);
    }
    const ConstRows states = trunk_.pass(places, trunk_.weights()->config.layers);
    multiply(trunk_.weights()->classifier(), states, logits_.topRows(states.rows()), *trunk_.team());
    return Logits(logits_.data(), states.rows(), logits_.cols());
}

ConstVector Batch::state(Index text, Index which) {
    const Vector found = cache(text).attention.state(length(text) - 1, which);
    return ConstVector(found.data(), found.size());
}

}  // namespace engine

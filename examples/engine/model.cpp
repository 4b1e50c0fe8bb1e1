#include "engine/model.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <specsample/tree/attention.hpp>

namespace engine {
namespace {

std::shared_ptr<PagePool> contiguous(const Config& config) {
    return std::make_shared<PagePool>(config.cache(), config.context);
}

}  // namespace

Model::Model(std::shared_ptr<const Weights> weights, std::shared_ptr<PagePool> pages, std::shared_ptr<Team> team)
    : trunk_(std::move(weights), std::move(team)),
      cache_(pages ? std::move(pages) : contiguous(this->weights()->config)) {
    if (cache_.attention.pool().shape() != this->weights()->config.cache())
        throw std::invalid_argument("the pool's pages have another shape than the model's cache");
}

Logits Model::forward(std::span<const Token> tokens) {
    check_tokens(tokens);
    check_room(length(), std::ssize(tokens));
    check_text(length());
    reserve(length() + std::ssize(tokens), std::ssize(tokens));
    append(tokens, {}, layers());
    return feed(length() - std::ssize(tokens), std::ssize(tokens), layers());
}

void Model::truncate(Index length) {
    if (length < 0 || length > this->length()) {
        throw std::invalid_argument("cannot truncate a cache of " + std::to_string(this->length()) + " positions to " +
                                    std::to_string(length));
    }
    check_text(length);
    cache_.history.truncate(length);
    cache_.attention.resize(length);
}

Logits Model::score(std::span<const Token> prefix, Index n, Index layers) {
    if (n < 1 || n > std::ssize(prefix)) {
        throw std::invalid_argument("cannot score the last " + std::to_string(n) + " of " +
                                    std::to_string(prefix.size()) + " positions");
    }
    if (layers < 1 || layers > this->layers()) {
        throw std::invalid_argument("cannot score with " + std::to_string(layers) + " of " +
                                    std::to_string(this->layers()) + " layers");
    }
    check_tokens(prefix);
    check_room(0, std::ssize(prefix));
    const Index kept = keep(prefix, std::ssize(prefix) - n, layers);
    reserve(std::ssize(prefix), n);
    append(prefix.subspan(static_cast<std::size_t>(kept)), {}, layers);
    return feed(kept, n, layers);
}

Logits Model::score_tree(std::span<const Token> prefix, std::span<const Token> tokens, std::span<const Index> parents) {
    if (tokens.empty()) return score(prefix, 1);
    check_tokens(prefix);
    check_tokens(tokens);
    std::vector<Index> positions(tokens.size());
    specsample::attention::position_ids(parents, std::ssize(prefix), positions);
    check_room(std::ssize(prefix), std::ranges::max(positions) + 1 - std::ssize(prefix));
    const Index kept = keep(prefix, std::ssize(prefix) - 1, layers());
    reserve(std::ssize(prefix) + std::ssize(tokens), std::ssize(tokens) + 1);
    append(prefix.subspan(static_cast<std::size_t>(kept)), {}, layers());
    append(tokens, parents, layers());
    return feed(kept, std::ssize(tokens) + 1, layers());
}

ConstVector Model::state(std::span<const Token> prefix, Index which) {
    const std::vector<Index> path = cache_.history.find(prefix, layers());
    const bool is_known = !path.empty() && path.size() == prefix.size();
    if (!is_known) score(prefix, 1);
    const Vector found = cache_.attention.state(is_known ? path.back() : length() - 1, which);
    return ConstVector(found.data(), found.size());
}

/// Keeps what is cached of the first `most` tokens of `prefix` in the first `layers` layers.
Index Model::keep(std::span<const Token> prefix, Index most, Index layers) {
    const std::vector<Index> path = cache_.history.find(prefix.first(static_cast<std::size_t>(most)), layers);
    cache_.attention.compact(path);
    cache_.history.keep(path);
    cache_.attention.resize(length());
    return length();
}

/// Reserves `slots` slots in all, and the logits of `scored` of them, so that a failure comes before anything is fed.
void Model::reserve(Index slots, Index scored) {
    const auto needed = static_cast<std::size_t>(scored * outputs());
    if (logits_.size() < needed) logits_.resize(needed);
    cache_.history.reserve(slots);
    cache_.attention.resize(slots);
}

/// Appends tokens to the reserved slots behind the cached ones; without parents they are a text.
void Model::append(std::span<const Token> tokens, std::span<const Index> parents, Index layers) {
    const Index first = length();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Index parent = parents.empty() ? static_cast<Index>(i) - 1 : parents[i];
        cache_.history.push(tokens[i], first + parent, layers);
    }
}

/// Computes the slots from `first` on in as few passes as possible, and the logits of the last `scored` ones.
Logits Model::feed(Index first, Index scored, Index layers) {
    Eigen::Map<RowMatrix> logits(logits_.data(), scored, outputs());
    const Index first_scored = length() - scored;
    for (Index begin = first; begin < length(); begin += max_pass) {
        const Index count = std::min(max_pass, length() - begin);
        const ConstRows states = pass(begin, count, layers);
        const Index silent = std::clamp<Index>(first_scored - begin, 0, count);  // slots of this pass
        if (silent == count) continue;
        multiply(weights()->classifier(), states.middleRows(silent, count - silent),
                 logits.middleRows(begin + silent - first_scored, count - silent), *team());
    }
    return Logits(logits_.data(), scored, outputs());
}

ConstRows Model::pass(Index first, Index positions, Index layers) {
    std::array<Place, max_pass> places;
    for (Index i = 0; i < positions; ++i) places[static_cast<std::size_t>(i)] = {&cache_, first + i};
    return trunk_.pass(std::span(places).first(static_cast<std::size_t>(positions)), layers);
}

void Model::check_text(Index length) const {
    if (length > 0 && cache_.history.position(length - 1) != length - 1) {
        throw std::invalid_argument("the first " + std::to_string(length) + " slots of the cache are not a text");
    }
}

void Model::check_tokens(std::span<const Token> tokens) const {
    if (tokens.empty()) throw std::invalid_argument("a pass needs at least one token");
    for (const Token token : tokens) {
        if (token < 0 || token >= vocab()) {
            throw std::invalid_argument("token " + std::to_string(token) + " is outside the vocabulary of " +
                                        std::to_string(vocab()));
        }
    }
}

void Model::check_room(Index behind, Index count) const {
    if (behind + count > context()) {
        throw std::invalid_argument(std::to_string(count) + " tokens behind " + std::to_string(behind) +
                                    " exceed the context of " + std::to_string(context()));
    }
}

}  // namespace engine

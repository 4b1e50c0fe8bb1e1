#include "engine/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <specsample/tree/attention.hpp>

namespace engine {
namespace {

RowMatrix buffer(Index width) { return RowMatrix::Zero(Model::max_pass, aligned_width(width)); }

Vector row(RowMatrix& matrix, Index position, Index size) { return Vector(&matrix(position, 0), size); }

ConstVector const_row(const RowMatrix& matrix, Index position, Index size) {
    return ConstVector(&matrix(position, 0), size);
}

std::shared_ptr<PagePool> contiguous(const Config& config) {
    return std::make_shared<PagePool>(config.cache(), config.context);
}

}  // namespace

Model::Model(std::shared_ptr<const Weights> weights, std::shared_ptr<PagePool> pages, std::shared_ptr<Team> team)
    : weights_(std::move(weights)),
      rope_(weights_->config.head_size(), weights_->config.context),
      attention_(pages ? std::move(pages) : contiguous(weights_->config)),
      team_(team ? std::move(team) : std::make_shared<Team>()),
      stream_(buffer(weights_->config.dim)),
      normed_(buffer(weights_->config.dim)),
      query_key_value_(buffer(weights_->config.dim + 2 * weights_->config.kv_dim())),
      attended_(buffer(weights_->config.dim)),
      gate_up_(buffer(2 * weights_->config.hidden)),
      activated_(buffer(weights_->config.hidden)),
      update_(buffer(weights_->config.dim)),
      visible_(max_pass),
      scores_(static_cast<std::size_t>(team_->size())) {
    if (attention_.pool().shape() != weights_->config.cache())
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
    history_.truncate(length);
    attention_.resize(length);
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

ConstVector Model::state(std::span<const Token> prefix) {
    const std::vector<Index> path = history_.find(prefix, layers());
    const bool is_known = !path.empty() && path.size() == prefix.size();
    if (!is_known) score(prefix, 1);
    const Vector found = attention_.state(is_known ? path.back() : length() - 1);
    return ConstVector(found.data(), found.size());
}

/// Keeps what is cached of the first `most` tokens of `prefix` in the first `layers` layers.
Index Model::keep(std::span<const Token> prefix, Index most, Index layers) {
    const std::vector<Index> path = history_.find(prefix.first(static_cast<std::size_t>(most)), layers);
    attention_.compact(path);
    history_.keep(path);
    attention_.resize(length());
    return length();
}

/// Reserves `slots` slots in all, and the logits of `scored` of them, so that a failure comes before anything is fed.
void Model::reserve(Index slots, Index scored) {
    const auto needed = static_cast<std::size_t>(scored * outputs());
    if (logits_.size() < needed) logits_.resize(needed);
    history_.reserve(slots);
    attention_.resize(slots);
}

/// Appends tokens to the reserved slots behind the cached ones; without parents they are a text.
void Model::append(std::span<const Token> tokens, std::span<const Index> parents, Index layers) {
    const Index first = length();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Index parent = parents.empty() ? static_cast<Index>(i) - 1 : parents[i];
        history_.push(tokens[i], first + parent, layers);
    }
}

/// Computes the slots from `first` on in as few passes as possible, and the logits of the last `scored` ones.
Logits Model::feed(Index first, Index scored, Index layers) {
    Eigen::Map<RowMatrix> logits(logits_.data(), scored, outputs());
    const Index first_scored = length() - scored;
    for (Index begin = first; begin < length(); begin += max_pass) {
        const Index count = std::min(max_pass, length() - begin);
        pass(begin, count, layers);
        const Index silent = std::clamp<Index>(first_scored - begin, 0, count);  // slots of this pass
        if (silent == count) continue;
        multiply(weights_->classifier(), normed_.middleRows(silent, count - silent),
                 logits.middleRows(begin + silent - first_scored, count - silent), *team_);
    }
    return Logits(logits_.data(), scored, outputs());
}

/// Takes a few slots from their tokens to their final states, which stay in normed_.
void Model::pass(Index first, Index positions, Index layers) {
    for (Index i = 0; i < positions; ++i) {
        weights_->embedding.copy_row(history_.token(first + i), &stream_(i, 0));
        history_.see(first + i, visible_[static_cast<std::size_t>(i)]);
    }
    for (Index i = 0; i < layers; ++i) {
        const Layer& layer = weights_->layers[static_cast<std::size_t>(i)];
        attention_block(layer, i, first, positions);
        feed_forward_block(layer, positions);
    }
    normalise(weights_->final_norm, positions);
    for (Index i = 0; i < positions; ++i) attention_.state(first + i) = const_row(normed_, i, weights_->config.dim);
}

void Model::attention_block(const Layer& layer, Index number, Index first, Index positions) {
    const Index dim = weights_->config.dim;
    const Index kv_dim = weights_->config.kv_dim();
    normalise(layer.attention_norm, positions);
    project(layer.query_key_value, normed_, query_key_value_, positions);
    for (Index i = 0; i < positions; ++i) {
        float* queries = &query_key_value_(i, 0);
        rope_.rotate({queries, static_cast<std::size_t>(dim + kv_dim)}, history_.position(first + i));  // and keys
        attention_.write(number, first + i, queries + dim, queries + dim + kv_dim);
    }
    team_->run(positions, [&](Index i, Index member) {
        attention_.attend(number, first + i, visible_[static_cast<std::size_t>(i)], &query_key_value_(i, 0),
                          &attended_(i, 0), scores_[static_cast<std::size_t>(member)]);
    });
    project(layer.attention_output, attended_, update_, positions);
    stream_.topRows(positions) += update_.topRows(positions);
}

void Model::feed_forward_block(const Layer& layer, Index positions) {
    const Index hidden = weights_->config.hidden;
    normalise(layer.feed_forward_norm, positions);
    project(layer.gate_up, normed_, gate_up_, positions);
    for (Index i = 0; i < positions; ++i) swiglu(const_row(gate_up_, i, 2 * hidden), row(activated_, i, hidden));
    project(layer.down, activated_, update_, positions);
    stream_.topRows(positions) += update_.topRows(positions);
}

void Model::normalise(const Eigen::ArrayXf& norm, Index positions) {
    const Index dim = weights_->config.dim;
    for (Index i = 0; i < positions; ++i) rms_norm(const_row(stream_, i, dim), norm, row(normed_, i, dim));
}

void Model::project(const PackedMatrix& matrix, const RowMatrix& in, RowMatrix& out, Index positions) {
    multiply(matrix, in.topRows(positions), out.topRows(positions), *team_);
}

void Model::check_text(Index length) const {
    if (length > 0 && history_.position(length - 1) != length - 1) {
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

#include "engine/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace engine {
namespace {

RowMatrix buffer(Index width) { return RowMatrix::Zero(Model::max_pass, aligned_width(width)); }

Vector row(RowMatrix& matrix, Index position, Index size) { return Vector(&matrix(position, 0), size); }

ConstVector const_row(const RowMatrix& matrix, Index position, Index size) {
    return ConstVector(&matrix(position, 0), size);
}

}  // namespace

Model::Model(std::shared_ptr<const Weights> weights)
    : weights_(std::move(weights)),
      rope_(weights_->config.head_size(), weights_->config.context),
      attention_(weights_->config.attention()),
      stream_(buffer(weights_->config.dim)),
      normed_(buffer(weights_->config.dim)),
      query_key_value_(buffer(weights_->config.dim + 2 * weights_->config.kv_dim())),
      attended_(buffer(weights_->config.dim)),
      gate_up_(buffer(2 * weights_->config.hidden)),
      activated_(buffer(weights_->config.hidden)),
      update_(buffer(weights_->config.dim)) {
    tokens_.reserve(static_cast<std::size_t>(context()));
}

Logits Model::forward(std::span<const Token> tokens) {
    check_tokens(tokens, length());
    return feed(tokens, std::ssize(tokens));
}

void Model::truncate(Index length) {
    if (length < 0 || length > this->length()) {
        throw std::invalid_argument("cannot truncate a cache of " + std::to_string(this->length()) + " positions to " +
                                    std::to_string(length));
    }
    tokens_.resize(static_cast<std::size_t>(length));
}

Logits Model::score(std::span<const Token> prefix, Index n) {
    if (n < 1 || n > std::ssize(prefix)) {
        throw std::invalid_argument("cannot score the last " + std::to_string(n) + " of " +
                                    std::to_string(prefix.size()) + " positions");
    }
    const auto differ = std::mismatch(tokens_.begin(), tokens_.end(), prefix.begin(), prefix.end()).first;
    const Index kept = std::min<Index>(differ - tokens_.begin(), std::ssize(prefix) - n);
    const auto fresh = prefix.subspan(static_cast<std::size_t>(kept));
    check_tokens(fresh, kept);
    truncate(kept);
    return feed(fresh, n);
}

/// Feeds checked tokens in as few passes as possible and computes the logits of the last `scored` ones.
Logits Model::feed(std::span<const Token> tokens, Index scored) {
    const auto needed = static_cast<std::size_t>(scored * vocab());
    if (logits_.size() < needed) logits_.resize(needed);
    Eigen::Map<RowMatrix> logits(logits_.data(), scored, vocab());
    const Index silent = std::ssize(tokens) - scored;
    for (Index begin = 0; begin < std::ssize(tokens); begin += max_pass) {
        const Index count = std::min(max_pass, std::ssize(tokens) - begin);
        pass(tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
        const Index first = std::clamp<Index>(silent - begin, 0, count);  // scored ones of this pass
        if (first == count) continue;
        normalise(weights_->final_norm, count);
        multiply(weights_->classifier(), normed_.middleRows(first, count - first),
                 logits.middleRows(begin + first - silent, count - first));
    }
    return Logits(logits_.data(), scored, vocab());
}

void Model::pass(std::span<const Token> tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        weights_->embedding.copy_row(tokens[i], &stream_(static_cast<Index>(i), 0));
    }
    for (std::size_t i = 0; i < weights_->layers.size(); ++i) {
        attention_block(weights_->layers[i], static_cast<Index>(i), std::ssize(tokens));
        feed_forward_block(weights_->layers[i], std::ssize(tokens));
    }
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

void Model::attention_block(const Layer& layer, Index number, Index positions) {
    const Index dim = weights_->config.dim;
    const Index kv_dim = weights_->config.kv_dim();
    normalise(layer.attention_norm, positions);
    multiply(layer.query_key_value, normed_.topRows(positions), query_key_value_.topRows(positions));
    for (Index i = 0; i < positions; ++i) {
        float* queries = &query_key_value_(i, 0);
        rope_.rotate({queries, static_cast<std::size_t>(dim + kv_dim)}, length() + i);  // queries and keys
        attention_.write(number, length() + i, queries + dim, queries + dim + kv_dim);
    }
    for (Index i = 0; i < positions; ++i) {
        attention_.attend(number, length() + i, &query_key_value_(i, 0), &attended_(i, 0));
    }
    multiply(layer.attention_output, attended_.topRows(positions), update_.topRows(positions));
    stream_.topRows(positions) += update_.topRows(positions);
}

void Model::feed_forward_block(const Layer& layer, Index positions) {
    const Index hidden = weights_->config.hidden;
    normalise(layer.feed_forward_norm, positions);
    multiply(layer.gate_up, normed_.topRows(positions), gate_up_.topRows(positions));
    for (Index i = 0; i < positions; ++i) swiglu(const_row(gate_up_, i, 2 * hidden), row(activated_, i, hidden));
    multiply(layer.down, activated_.topRows(positions), update_.topRows(positions));
    stream_.topRows(positions) += update_.topRows(positions);
}

void Model::normalise(const Eigen::ArrayXf& norm, Index positions) {
    const Index dim = weights_->config.dim;
    for (Index i = 0; i < positions; ++i) rms_norm(const_row(stream_, i, dim), norm, row(normed_, i, dim));
}

void Model::check_tokens(std::span<const Token> tokens, Index behind) const {
    if (tokens.empty()) throw std::invalid_argument("a pass needs at least one token");
    if (behind + std::ssize(tokens) > context()) {
        throw std::invalid_argument(std::to_string(tokens.size()) + " tokens behind " + std::to_string(behind) +
                                    " exceed the context of " + std::to_string(context()));
    }
    for (const Token token : tokens) {
        if (token < 0 || token >= vocab()) {
            throw std::invalid_argument("token " + std::to_string(token) + " is outside the vocabulary of " +
                                        std::to_string(vocab()));
        }
    }
}

}  // namespace engine

#pragma once

// A Llama model answering one request: shared weights and a key-value cache of its own.
//
// A position's logits have the same bits however the tokens before it were fed: in one pass or many, freshly or after a
// truncation.

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint.hpp"
#include "engine/kernel.hpp"
#include "engine/layers.hpp"
#include "engine/token.hpp"

namespace engine {

using Logits = Eigen::Map<const RowMatrix>;

class Model {
  public:
    explicit Model(std::shared_ptr<const Weights> weights);

    static Model load(const std::filesystem::path& path) { return Model(Weights::load(path)); }

    Index vocab() const { return weights_->config.vocab; }
    Index context() const { return weights_->config.context; }
    Index length() const { return static_cast<Index>(tokens_.size()); }  ///< positions in the cache
    Index parameters() const { return weights_->parameters(); }
    std::size_t weight_bytes() const { return weights_->bytes_per_pass(); }  ///< read by one pass

    /// Feeds tokens behind the cached ones. Row i holds the logits after tokens[i]; valid until the next call.
    /// Throws std::invalid_argument, changing nothing, for no tokens, a token outside the vocabulary or a full context.
    Logits forward(std::span<const Token> tokens);

    /// Forgets the positions from `length` on, in constant time.
    void truncate(Index length);

    /// Logits of the last n positions of `prefix`, for any `prefix` and whatever is cached. What the cache shares with
    /// it is kept, up to those n positions; the rest is fed, in a single pass if that is at most `max_pass` tokens.
    Logits score(std::span<const Token> prefix, Index n);

    static constexpr Index max_pass = 16;  ///< positions per reading of the weights; longer inputs take several passes

  private:
    Logits feed(std::span<const Token> tokens, Index scored);
    void pass(std::span<const Token> tokens);
    void attention_block(const Layer& layer, Index number, Index positions);
    void feed_forward_block(const Layer& layer, Index positions);
    void normalise(const Eigen::ArrayXf& norm, Index positions);
    void check_tokens(std::span<const Token> tokens, Index behind) const;

    std::shared_ptr<const Weights> weights_;
    RotaryEmbedding rope_;
    Attention attention_;
    std::vector<Token> tokens_;  // what the cache holds the keys and values of

    // One row per position of a pass, as wide as aligned_width asks; the columns beyond a vector's end stay zero.
    RowMatrix stream_;           // the residual stream
    RowMatrix normed_;           // its normalised copy
    RowMatrix query_key_value_;  // behind each other
    RowMatrix attended_;
    RowMatrix gate_up_;  // behind each other
    RowMatrix activated_;
    RowMatrix update_;  // what a block adds to the stream
    std::vector<float> logits_;
};

}  // namespace engine

#pragma once

// A language model of selective state-space blocks, for one request: what it knows of a text is a state of one size,
// which has read the tokens one after the other and cannot be cut. specsample::recurrent::Rewound takes back copies.
//
// With x a block's input, normalised, (u, z) = W_in x, and s the block's state, `states` numbers for each channel of u:
//
//     u = silu(convolution of u and the last inputs),   (d, B, C) = W_x u,   step = softplus(W_d d + b)
//     s = exp(step A) s + step u B^T,                   y = s C + D u,       output = W_out (y silu(z))
//
// Gu, Dao: "Mamba: linear-time sequence modeling with selective state spaces", arXiv:2312.00752, Algorithm 2.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/reader.hpp"
#include "engine/rows.hpp"
#include "engine/token.hpp"

namespace engine {

struct StateSpaceConfig {
    Index dim, blocks, inner, states, rank, window, vocab;
};

struct StateSpaceBlock {
    Eigen::ArrayXf norm;
    PackedMatrix enter;   // dim -> u and z, of `inner` channels each
    RowMatrix window;     // [window x inner] weights of the convolution, the oldest input first
    Eigen::ArrayXf bias;  // of the convolution
    PackedMatrix select;  // inner -> d, B and C
    PackedMatrix step;    // rank -> inner
    Eigen::ArrayXf step_bias;
    RowMatrix decay;  // A, [states x inner]
    Eigen::ArrayXf skip;
    PackedMatrix leave;  // inner -> dim
};

struct StateSpaceWeights {
    StateSpaceConfig config;
    PackedMatrix embedding;  // also the classifier
    std::vector<StateSpaceBlock> blocks;
    Eigen::ArrayXf norm;

    std::size_t bytes() const;  ///< of the matrices that a pass reads

    /// Throws std::runtime_error, with the file, what is wrong and what was expected, for a damaged file.
    static std::shared_ptr<const StateSpaceWeights> load(const std::filesystem::path& path);
};

/// A specsample::recurrent::Model of logits. A position's logits have the same bits however the tokens before it were
/// read: in one call or many, freshly or after restore().
class StateSpace {
  public:
    using State = RowMatrix;  ///< of all blocks, one after the other; empty before the first token

    explicit StateSpace(std::shared_ptr<const StateSpaceWeights> weights);

    const StateSpaceConfig& config() const { return weights_->config; }

    /// Reads tokens and returns the logits [n x vocab] after the last n of them. With one row more than tokens, which
    /// only a text's beginning has, the first row is before any token: zeros. After the first `sure` tokens the state
    /// is copied to `copy`.
    /// Throws std::invalid_argument, changing nothing, for a token outside the vocabulary.
    RowMatrix read(std::span<const Token> tokens, Index n, Index sure, State& copy);

    void restore(const State& copy);

  private:
    void pass(std::span<const Token> tokens, Index sure, State& copy);
    void run(Index number, Index count, Index sure, State& copy);
    void convolve(const StateSpaceBlock& block, Index position);
    void scan(const StateSpaceBlock& block, Rows numbers, Index position);

    std::shared_ptr<const StateSpaceWeights> weights_;
    State state_;  // for each block the last window - 1 inputs of the convolution, then s as [states x inner]

    // One row per position of a pass; the columns beyond a vector's end stay zero.
    RowMatrix stream_, normed_, entered_, inputs_, channels_, selected_, ranked_, steps_, mixed_, update_;
};

}  // namespace engine

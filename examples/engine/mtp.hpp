#pragma once

// A multi-token-prediction module on a model: one small block that is applied again for each further token.
//
// With h the state after token t, from which the classifier E gave token t + 1, and e(x) = scale * E[x]:
//
//     g_0 = h,   g_k = g_{k-1} + B silu(A [g_{k-1}; e(x_{t+k})]),   logits of token t + k + 1 = E g_k
//
// It reads the tokens that were drafted before, so it is a model of its own, on the state of another model.
//
// DeepSeek-AI 2024, "DeepSeek-V3 technical report", arXiv:2412.19437: section 2.2, the sequential kind.

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint.hpp"
#include "engine/layers.hpp"
#include "engine/model.hpp"

namespace engine {

class Mtp {
  public:
    /// A module for the model of `weights`. Throws std::runtime_error, with the file, what is wrong and what was
    /// expected, for a file that is damaged or made for a model of another width.
    static Mtp load(const std::filesystem::path& path, std::shared_ptr<const Weights> weights);

    /// Sets h. Later calls are about the tokens behind it.
    void begin(const ConstVector& state);

    /// Logits after `behind`, the tokens from t + 1 on, at least one. Valid until the next call. States that the last
    /// call computed for the same leading tokens are used again.
    Logits operator()(std::span<const Token> behind);

  private:
    Mtp(float scale, PackedMatrix a, PackedMatrix b, std::shared_ptr<const Weights> weights);

    void step(Index k, Token token);

    float scale_;
    PackedMatrix a_;
    PackedMatrix b_;
    std::shared_ptr<const Weights> weights_;
    std::vector<Token> tokens_;  // the tokens of states_
    RowMatrix states_;           // g_0, g_1, ...
    RowMatrix input_;            // g, then e(x)
    RowMatrix inner_;
    RowMatrix update_;
    RowMatrix logits_;
};

}  // namespace engine

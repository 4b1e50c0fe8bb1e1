#pragma once

// Medusa heads on a model: the logits of several future tokens from the model's state at one position.
//
// The model's own classifier E reads the state h after token t and gives the logits of token t + 1. Head k reads the
// same state and gives the logits of token t + k + 1:
//
//     E (silu(W_k h) + h)
//
// Cai et al. 2024, "Medusa", arXiv:2401.10774: section 2.1.1, with the model frozen (Medusa-1).

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/checkpoint.hpp"
#include "engine/layers.hpp"
#include "engine/model.hpp"

namespace engine {

class Heads {
  public:
    /// Heads on the model of `weights`. Throws std::runtime_error, with the file, what is wrong and what was expected,
    /// for a file that is damaged or made for a model of another width.
    static Heads load(const std::filesystem::path& path, std::shared_ptr<const Weights> weights);

    /// Heads that add nothing and repeat the classifier's logits of token t + 1: the baseline for trained heads.
    static Heads untrained(Index count, std::shared_ptr<const Weights> weights);

    Index count() const { return static_cast<Index>(heads_.size()); }

    /// Drops all heads but the first `count`, which must not be more than there are.
    void keep(Index count);

    /// Row k - 1 holds head k's logits; valid until the next call.
    Logits operator()(const ConstVector& state);

  private:
    Heads(std::vector<PackedMatrix> heads, std::shared_ptr<const Weights> weights);

    std::vector<PackedMatrix> heads_;
    std::shared_ptr<const Weights> weights_;
    RowMatrix input_;
    RowMatrix hidden_;  // the classifier's input, a row per head
    RowMatrix logits_;
};

}  // namespace engine

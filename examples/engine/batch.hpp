#pragma once

// Texts that grow together: one token for each of them per pass, so that the weights are read once for all.

#include <memory>
#include <span>
#include <vector>

#include "engine/trunk.hpp"

namespace engine {

class Batch {
  public:
    /// `texts`: at most Trunk::max_pass. `context`: the longest text; its memory is taken at once.
    /// Throws std::invalid_argument for another number of texts, or a context that the model does not have.
    Batch(std::shared_ptr<const Weights> weights, std::shared_ptr<Team> team, Index texts, Index context);

    Index length(Index text) const { return cache(text).history.size(); }

    /// Begins the text anew.
    void clear(Index text);

    /// A token to be appended to a text.
    struct Next {
        Index text;
        Token token;
    };

    /// Appends tokens to different texts. Row i is about the text after next[i]; valid until the next call. Throws
    /// std::invalid_argument for a token outside the vocabulary or a text without room.
    Logits forward(std::span<const Next> next);

    /// A state of the text's last position (pages.hpp).
    ConstVector state(Index text, Index which);

  private:
    Cache& cache(Index text) { return caches_[static_cast<std::size_t>(text)]; }
    const Cache& cache(Index text) const { return caches_[static_cast<std::size_t>(text)]; }

    Trunk trunk_;
    std::vector<Cache> caches_;
    Index context_;
    RowMatrix logits_;
};

}  // namespace engine

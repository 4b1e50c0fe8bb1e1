#pragma once

// The pass through a model's layers: slots of one cache or of several go through together, so that the weights are read
// once for all of them. A slot's bits do not depend on what else is in its pass.

#include <memory>
#include <span>
#include <vector>

#include "engine/attention.hpp"
#include "engine/checkpoint.hpp"
#include "engine/history.hpp"
#include "engine/kernel.hpp"
#include "engine/layers.hpp"
#include "engine/team.hpp"

namespace engine {

using Logits = Eigen::Map<const RowMatrix>;

/// What one request has fed to a model. The two parts have the same slots.
struct Cache {
    explicit Cache(std::shared_ptr<PagePool> pool) : attention(std::move(pool)) {}

    History history;
    Attention attention;
};

/// A slot whose token is in the history, and for which the attention has room.
struct Place {
    Cache* cache;
    Index slot;
};

class Trunk {
  public:
    static constexpr Index max_pass = 16;  ///< slots per reading of the weights

    /// Zeros: a row for each slot of a pass.
    static RowMatrix rows(Index width) { return RowMatrix::Zero(max_pass, aligned_width(width)); }

    /// `team` null: one thread.
    Trunk(std::shared_ptr<const Weights> weights, std::shared_ptr<Team> team);

    const std::shared_ptr<const Weights>& weights() const { return weights_; }
    const std::shared_ptr<Team>& team() const { return team_; }

    /// Takes at most max_pass places from their tokens to their final states, which are stored in their caches, with
    /// those of the middle layers. Those of one cache come in order. Row i belongs to places[i]; valid until the next
    /// pass.
    ConstRows pass(std::span<const Place> places, Index layers);

    /// The same from other inputs than the tokens' embeddings: row i of `inputs` enters the first layer at places[i].
    ConstRows pass(std::span<const Place> places, Index layers, const ConstRows& inputs);

  private:
    /// Places that follow each other in one cache, at most a member's share of a pass.
    struct Run {
        Index first;
        Index count;
    };

    /// What a member works on alone. Between members go only what a part of the work reads and what it leaves.
    struct Desk {
        RowMatrix gate_up;  // one after the other
        RowMatrix attended;
        Attention::Room room;
    };

    ConstRows run(std::span<const Place> places, Index layers);
    void find_runs(std::span<const Place> places);
    void store_middle_states(Index layers_done, std::span<const Place> places) const;
    void attention_block(const Layer& layer, Index number, std::span<const Place> places);
    void attend(Index number, Index head, Index end, const Run& run, std::span<const Place> places, Index member);
    void finish_head(Index head, Index number, std::span<const Place> places);
    void feed_forward_block(const Layer& layer, Index positions);
    void normalise(const Eigen::ArrayXf& norm, Index positions);
    void add_product(const PackedMatrix& matrix, const Inputs& inputs);
    template <class Work>
    void share(const PackedMatrix& matrix, Index positions, Index count, Index granule, Work&& work);

    std::shared_ptr<const Weights> weights_;
    RotaryEmbedding rope_;
    std::shared_ptr<Team> team_;

    // One row per position of a pass, of width aligned_width; the columns beyond a vector's end stay zero.
    RowMatrix stream_;           // the residual stream
    RowMatrix normed_;           // its normalised copy
    RowMatrix query_key_value_;  // one after the other
    RowMatrix update_;           // the block's output, to be added to the stream
    Inputs normed_inputs_, attended_, activated_;
    std::vector<History::Visible> visible_;  // one entry per position of a pass
    std::vector<Run> runs_;                  // all places of a pass
    Index heads_together_;                   // key heads whose results are whole groups of columns
    std::vector<Desk> desks_;                // one per member of the team
};

}  // namespace engine

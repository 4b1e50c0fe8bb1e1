#include "engine/trunk.hpp"

#include <utility>

namespace engine {
namespace {

Vector row(RowMatrix& matrix, Index position, Index size) { return Vector(&matrix(position, 0), size); }

ConstVector const_row(const RowMatrix& matrix, Index position, Index size) {
    return ConstVector(&matrix(position, 0), size);
}

}  // namespace

Trunk::Trunk(std::shared_ptr<const Weights> weights, std::shared_ptr<Team> team)
    : weights_(std::move(weights)),
      rope_(weights_->config.head_size(), weights_->config.context, weights_->config.rope_theta),
      team_(team ? std::move(team) : std::make_shared<Team>()),
      stream_(rows(weights_->config.dim)),
      normed_(rows(weights_->config.dim)),
      query_key_value_(rows(weights_->config.dim + 2 * weights_->config.kv_dim())),
      attended_(rows(weights_->config.dim)),
      gate_up_(rows(2 * weights_->config.hidden)),
      activated_(rows(weights_->config.hidden)),
      update_(rows(weights_->config.dim)),
      visible_(max_pass),
      rooms_(static_cast<std::size_t>(team_->size())) {}

ConstRows Trunk::pass(std::span<const Place> places, Index layers) {
    Index i = 0;
    for (const auto& [cache, slot] : places) weights_->embedding.copy_row(cache->history.token(slot), &stream_(i++, 0));
    return run(places, layers);
}

ConstRows Trunk::pass(std::span<const Place> places, Index layers, const ConstRows& inputs) {
    stream_.topLeftCorner(inputs.rows(), inputs.cols()) = inputs;
    return run(places, layers);
}

ConstRows Trunk::run(std::span<const Place> places, Index layers) {
    const Index positions = std::ssize(places);
    Index i = 0;
    for (const auto& [cache, slot] : places) cache->history.see(slot, visible_[static_cast<std::size_t>(i++)]);
    find_runs(places);
    for (Index number = 0; number < layers; ++number) {
        const Layer& layer = weights_->layers[static_cast<std::size_t>(number)];
        store_middle_states(number, places);
        attention_block(layer, number, places);
        feed_forward_block(layer, positions);
    }
    normalise(weights_->final_norm, positions);
    i = 0;
    for (const auto& [cache, slot] : places)
        cache->attention.state(slot) = const_row(normed_, i++, weights_->config.dim);
    return normed_.topRows(positions);
}

void Trunk::store_middle_states(Index layers_done, std::span<const Place> places) const {
    const Config& config = weights_->config;
    for (Index which = 0; which + 1 < states_per_position; ++which) {
        if (config.layers * (which + 1) / states_per_position != layers_done) continue;
        Index i = 0;
        for (const auto& [cache, slot] : places)
            cache->attention.state(slot, which) = const_row(stream_, i++, config.dim);
    }
}

void Trunk::find_runs(std::span<const Place> places) {
    const Index most = divide_up(std::ssize(places), team_->size());
    runs_.clear();
    for (Index i = 0; i < std::ssize(places); ++i) {
        const auto& [cache, slot] = places[static_cast<std::size_t>(i)];
        const auto continues = [&](const Run& run) {
            const auto& [its_cache, its_slot] = places[static_cast<std::size_t>(run.first)];
            return run.count < most && its_cache == cache && its_slot + run.count == slot;
        };
        if (!runs_.empty() && continues(runs_.back()))
            ++runs_.back().count;
        else
            runs_.push_back({i, 1});
    }
}

void Trunk::attention_block(const Layer& layer, Index number, std::span<const Place> places) {
    const Index dim = weights_->config.dim;
    const Index kv_dim = weights_->config.kv_dim();
    const Index positions = std::ssize(places);
    normalise(layer.attention_norm, positions);
    project(layer.query_key_value, normed_, query_key_value_, positions);
    Index row = 0;
    for (const auto& [cache, slot] : places) {
        float* queries = &query_key_value_(row++, 0);
        rope_.rotate({queries, static_cast<std::size_t>(dim + kv_dim)}, cache->history.position(slot));  // and keys
        cache->attention.write(number, slot, queries + dim, queries + dim + kv_dim);
    }
    const Index heads = weights_->config.kv_heads;
    team_->run(std::ssize(runs_) * heads, [&](Index piece, Index member) {
        const auto [first, count] = runs_[static_cast<std::size_t>(piece / heads)];
        const auto& [cache, slot] = places[static_cast<std::size_t>(first)];
        cache->attention.attend(
            number, piece % heads, slot,
            std::span(visible_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
            query_key_value_.middleRows(first, count), attended_.middleRows(first, count),
            rooms_[static_cast<std::size_t>(member)]);
    });
    project(layer.attention_output, attended_, update_, positions);
    stream_.topRows(positions) += update_.topRows(positions);
}

void Trunk::feed_forward_block(const Layer& layer, Index positions) {
    const Index hidden = weights_->config.hidden;
    normalise(layer.feed_forward_norm, positions);
    project(layer.gate_up, normed_, gate_up_, positions);
    for (Index i = 0; i < positions; ++i) swiglu(const_row(gate_up_, i, 2 * hidden), row(activated_, i, hidden));
    project(layer.down, activated_, update_, positions);
    stream_.topRows(positions) += update_.topRows(positions);
}

void Trunk::normalise(const Eigen::ArrayXf& norm, Index positions) {
    const Config& config = weights_->config;
    for (Index i = 0; i < positions; ++i)
        rms_norm(const_row(stream_, i, config.dim), norm, config.rms_epsilon, row(normed_, i, config.dim));
}

void Trunk::project(const PackedMatrix& matrix, const RowMatrix& in, RowMatrix& out, Index positions) {
    multiply(matrix, in.topRows(positions), out.topRows(positions), *team_);
}

}  // namespace engine

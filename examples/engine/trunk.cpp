#include "engine/trunk.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace engine {
namespace {

Vector row(RowMatrix& matrix, Index position, Index size) { return Vector(&matrix(position, 0), size); }

ConstVector const_row(const RowMatrix& matrix, Index position, Index size) {
    return ConstVector(&matrix(position, 0), size);
}

/// The fewest key heads whose results take whole groups of columns; all if no fewer do.
Index heads_of_whole_groups(const Config& config) {
    const Index width = config.dim / config.kv_heads;
    Index heads = 1;
    while (heads < config.kv_heads && heads * width % group_columns != 0) ++heads;
    return heads;
}

/// The heads of queries, keys and values, in the order in which members take them: of each key head its queries, its
/// keys and its values. They are stored queries first, then keys, then values.
Index nth_head(Index i, const Config& config) {
    const Index queries = config.heads / config.kv_heads;
    const Index of = i / (queries + 2), within = i % (queries + 2);
    if (within < queries) return of * queries + within;
    return config.heads + (within - queries) * config.kv_heads + of;
}

}  // namespace

Trunk::Trunk(std::shared_ptr<const Weights> weights, std::shared_ptr<Team> team)
    : weights_(std::move(weights)),
      rope_(weights_->config.head_size(), weights_->config.context, weights_->config.rope_theta),
      team_(team ? std::move(team) : std::make_shared<Team>()),
      stream_(rows(weights_->config.dim)),
      normed_(rows(weights_->config.dim)),
      query_key_value_(rows(weights_->config.dim + 2 * weights_->config.kv_dim())),
      update_(rows(weights_->config.dim)),
      visible_(max_pass),
      heads_together_(heads_of_whole_groups(weights_->config)) {
    for (Index member = 0; member < team_->size(); ++member)
        desks_.push_back({rows(2 * weights_->config.hidden), rows(weights_->config.dim), {}});
}

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
    const Config& config = weights_->config;
    const Index positions = std::ssize(places);
    const Index size = config.head_size();
    normalise(layer.attention_norm, positions);
    normed_inputs_.prepare(layer.query_key_value, positions);
    normed_inputs_.write(0, 0, normed_.block(0, 0, positions, config.dim));
    // Who computes a head finishes it. Key heads follow their queries, as below, so that most keys and values are read
    // by the member that wrote them. Heads without panels of their own are computed by one member.
    const Index all = config.heads + 2 * config.kv_heads;
    const bool has_panels = size % layer.query_key_value.granule() == 0;
    share(layer.query_key_value, positions, all, has_panels ? 1 : all, [&](Index first, Index last, Index) {
        for (Index i = first; i < last; ++i) {
            const Index row = nth_head(i, config) * size;
            layer.query_key_value.multiply_rows(normed_inputs_, query_key_value_.topRows(positions), row, row + size);
        }
        for (Index i = first; i < last; ++i) finish_head(nth_head(i, config), number, places);
    });
    attended_.prepare(layer.attention_output, positions);
    const Index runs = std::ssize(runs_);
    const Index bundles = divide_up(config.kv_heads, heads_together_);
    team_->share(bundles * runs, 1, [&](Index first_piece, Index last_piece, Index member) {
        for (Index piece = first_piece; piece < last_piece; ++piece) {
            const Index head = piece / runs * heads_together_;
            attend(number, head, std::min(head + heads_together_, config.kv_heads),
                   runs_[static_cast<std::size_t>(piece % runs)], places, member);
        }
    });
    add_product(layer.attention_output, attended_);
}

/// Computes the heads of the queries of key heads [head, end) at the places of a run.
void Trunk::attend(Index number, Index head, Index end, const Run& run, std::span<const Place> places, Index member) {
    const auto [first, count] = run;
    const auto& [cache, slot] = places[static_cast<std::size_t>(first)];
    Desk& desk = desks_[static_cast<std::size_t>(member)];
    const Index width = weights_->config.dim / weights_->config.kv_heads;
    for (Index h = head; h < end; ++h) {
        cache->attention.attend(
            number, h, slot,
            std::span(visible_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
            query_key_value_.middleRows(first, count), desk.attended.topRows(count), desk.room);
    }
    attended_.write(first, head * width, desk.attended.block(0, head * width, count, (end - head) * width));
}

/// Rotates a query or key head, and stores keys and values.
void Trunk::finish_head(Index head, Index number, std::span<const Place> places) {
    const Config& config = weights_->config;
    const Index size = config.head_size();
    const Index key = head - config.heads;  // not one if negative
    const Index value = key - config.kv_heads;
    for (Index i = 0; i < std::ssize(places); ++i) {
        const auto& [cache, slot] = places[static_cast<std::size_t>(i)];
        float* const row = &query_key_value_(i, head * size);
        if (value >= 0) {
            cache->attention.write_value(number, value, slot, row);
            continue;
        }
        rope_.rotate({row, static_cast<std::size_t>(size)}, cache->history.position(slot));
        if (key >= 0) cache->attention.write_key(number, key, slot, row);
    }
}

void Trunk::feed_forward_block(const Layer& layer, Index positions) {
    const Index hidden = weights_->config.hidden;
    normalise(layer.feed_forward_norm, positions);
    normed_inputs_.prepare(layer.gate_up, positions);
    normed_inputs_.write(0, 0, normed_.block(0, 0, positions, weights_->config.dim));
    activated_.prepare(layer.down, positions);
    // Who computes rows of the gate computes the same rows of the other factor, and their product. Both factors have
    // whole panels, or one member computes all.
    const Index granule = hidden % group_columns == 0 ? std::lcm(group_columns, layer.gate_up.granule()) : hidden;
    share(layer.gate_up, positions, hidden, granule, [&](Index first, Index last, Index member) {
        RowMatrix& factors = desks_[static_cast<std::size_t>(member)].gate_up;
        layer.gate_up.multiply_rows(normed_inputs_, factors.topRows(positions), first, last);
        layer.gate_up.multiply_rows(normed_inputs_, factors.topRows(positions), hidden + first, hidden + last);
        for (Index i = 0; i < positions; ++i)
            swiglu(Vector(&factors(i, first), last - first), &factors(i, hidden + first));
        activated_.write(0, first, factors.block(0, first, positions, last - first));
    });
    add_product(layer.down, activated_);
}

/// Adds a product to the stream.
void Trunk::add_product(const PackedMatrix& matrix, const Inputs& inputs) {
    multiply(matrix, inputs, update_.topRows(inputs.positions()), *team_);
    stream_.topRows(inputs.positions()) += update_.topRows(inputs.positions());
}

/// Calls work(first, last, member) for parts of [0, count) that compute a product with the matrix and more.
template <class Work>
void Trunk::share(const PackedMatrix& matrix, Index positions, Index count, Index granule, Work&& work) {
    if (!matrix.is_worth_sharing(positions)) return work(Index{0}, count, Index{0});
    team_->share(count, granule, work);
}

void Trunk::normalise(const Eigen::ArrayXf& norm, Index positions) {
    const Config& config = weights_->config;
    for (Index i = 0; i < positions; ++i)
        rms_norm(const_row(stream_, i, config.dim), norm, config.rms_epsilon, row(normed_, i, config.dim));
}

}  // namespace engine

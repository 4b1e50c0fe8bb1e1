#include "engine/attention.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace engine {
namespace {

template <class Float>
auto strided(Float* data, Index rows, Index columns) {
    using Plain = std::conditional_t<std::is_const_v<Float>, const RowMatrix, RowMatrix>;
    return Eigen::Map<Plain, 0, Eigen::OuterStride<>>(data, rows, columns, Eigen::OuterStride<>(columns));
}

/// The index of element i of the key at `place`, in the keys of one head.
Index in_keys(Index place, Index i, Index head_size) {
    return (place / panel_rows * head_size + i) * panel_rows + place % panel_rows;
}

/// The index of element i of the value at `place`, in a page of `positions` positions.
Index in_values(Index place, Index i, Index positions) {
    return (i / panel_rows * positions + place) * panel_rows + i % panel_rows;
}

/// Moves the scores of the visible slots next to each other.
void gather(float* scores, const History::Visible& visible) {
    float* out = scores + visible.all_before;
    for (const Index slot : visible.others) *out++ = scores[slot];
}

/// Moves them back to their slots, with zeros between them. Runs from the back, since no score moves to a lower index.
void scatter(float* scores, const History::Visible& visible, Index slots) {
    Index end = slots;
    const float* in = scores + visible.all_before + visible.others.size();
    for (auto slot = visible.others.rbegin(); slot != visible.others.rend(); end = *slot++) {
        const float score = *--in;
        std::fill(scores + *slot + 1, scores + end, 0.0f);
        scores[*slot] = score;
    }
    std::fill(scores + visible.all_before, scores + end, 0.0f);
}

}  // namespace

void Attention::write(Index layer, Index slot, const float* keys, const float* values) {
    const CacheShape& shape = pool().shape();
    const Index positions = pages_.positions();
    const Index place = slot % positions;
    Page& page = pages_.of(slot);
    for (Index head = 0; head < shape.kv_heads; ++head, keys += shape.head_size, values += shape.head_size) {
        const Index row = layer * shape.kv_heads + head;
        for (Index i = 0; i < shape.head_size; ++i) {
            page.keys(row, in_keys(place, i, shape.head_size)) = keys[i];
            page.values(row, in_values(place, i, positions)) = values[i];
        }
    }
}

void Attention::attend(Index layer, Index slot, Index head, const History::Visible& visible, const float* queries,
                       float* out, RowMatrix& scores) const {
    const CacheShape& shape = pool().shape();
    const Index size = shape.head_size;
    const Index shared_by = shape.heads / shape.kv_heads;
    const Index positions = pages_.positions();
    const Index slots = slot + 1;
    if (scores.cols() < slots) scores.resize(shared_by, aligned_width(2 * slots));
    const float scale = 1.0f / std::sqrt(static_cast<float>(size));
    const Index seen = visible.all_before + std::ssize(visible.others);
    const auto each_page = [&](auto&& work) {
        for (Index first = 0; first < slots; first += positions)
            work(pages_.of(first), scores.middleCols(first, std::min(positions, slots - first)));
    };
    const Index row = layer * shape.kv_heads + head;
    const Index first = head * shared_by * size;
    each_page([&](const Page& page, auto part) {
        const PanelView<float> keys{&page.keys(row, 0), panel_rows * size, part.cols(), size};
        multiply(keys, strided(queries + first, shared_by, size), part);
    });
    for (Index query = 0; query < shared_by; ++query) {
        gather(&scores(query, 0), visible);
        softmax(Vector(&scores(query, 0), seen), scale);
        scatter(&scores(query, 0), visible, slots);
    }
    auto result = strided(out + first, shared_by, size);
    result.setZero();
    each_page([&](const Page& page, auto part) {
        const PanelView<float> values{&page.values(row, 0), panel_rows * positions, size, part.cols()};
        multiply_add(values, part, result);
    });
}

Vector Attention::state(Index slot) {
    return Vector(&pages_.of(slot).states(slot % pages_.positions(), 0), pool().shape().dim());
}

void Attention::compact(std::span<const Index> path) {
    for (Index to = 0; to < std::ssize(path); ++to)
        if (const Index from = path[static_cast<std::size_t>(to)]; from != to) move(from, to);
}

void Attention::move(Index from, Index to) {
    const CacheShape& shape = pool().shape();
    const Index positions = pages_.positions();
    const Page& source = pages_.of(from);
    Page& sink = pages_.of(to);
    for (Index row = 0; row < shape.layers * shape.kv_heads; ++row) {
        for (Index i = 0; i < shape.head_size; ++i) {
            sink.keys(row, in_keys(to % positions, i, shape.head_size)) =
                source.keys(row, in_keys(from % positions, i, shape.head_size));
            sink.values(row, in_values(to % positions, i, positions)) =
                source.values(row, in_values(from % positions, i, positions));
        }
    }
    sink.states.row(to % positions) = source.states.row(from % positions);
}

}  // namespace engine

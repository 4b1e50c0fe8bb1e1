#include "engine/attention.hpp"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

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

void Attention::write_key(Index layer, Index head, Index slot, const float* key) {
    const CacheShape& shape = pool().shape();
    float* const keys = &pages_.of(slot).keys(layer * shape.kv_heads + head, 0);
    const Index place = slot % pages_.positions();
    for (Index i = 0; i < shape.head_size; ++i) keys[in_keys(place, i, shape.head_size)] = key[i];
}

void Attention::write_value(Index layer, Index head, Index slot, const float* value) {
    const CacheShape& shape = pool().shape();
    const Index positions = pages_.positions();
    float* const values = &pages_.of(slot).values(layer * shape.kv_heads + head, 0);
    for (Index i = 0; i < shape.head_size; ++i) values[in_values(slot % positions, i, positions)] = value[i];
}

void Attention::attend(Index layer, Index head, Index first, std::span<const History::Visible> visible,
                       const ConstRows& queries, Rows out, Room& room) const {
    const CacheShape& shape = pool().shape();
    const Index size = shape.head_size;
    const Index shared_by = shape.heads / shape.kv_heads;
    const Index positions = pages_.positions();
    const Index slots = first + std::ssize(visible);
    const Index rows = std::ssize(visible) * shared_by;
    make_room(room, rows, slots);
    const auto each_query = [&](auto&& work) {  // row of the room, its slot's place in the call, column of its head
        for (Index r = 0; r < rows; ++r) work(r, r / shared_by, (head * shared_by + r % shared_by) * size);
    };
    const auto each_page = [&](auto&& work) {
        for (Index begin = 0; begin < slots; begin += positions)
            work(pages_.of(begin), room.scores.block(0, begin, rows, std::min(positions, slots - begin)));
    };
    const Index row = layer * shape.kv_heads + head;
    each_query([&](Index r, Index i, Index column) { room.queries.row(r) = queries.row(i).segment(column, size); });
    each_page([&](const Page& page, auto part) {
        multiply(PanelView<float>{&page.keys(row, 0), panel_rows * size, part.cols(), size}, room.queries.topRows(rows),
                 part);
    });
    const float scale = 1.0f / std::sqrt(static_cast<float>(size));
    each_query([&](Index r, Index i, Index) {
        const History::Visible& seen = visible[static_cast<std::size_t>(i)];
        float* const scores = &room.scores(r, 0);
        gather(scores, seen);
        softmax(Vector(scores, seen.all_before + std::ssize(seen.others)), scale);
        scatter(scores, seen, slots);
    });
    room.results.topRows(rows).setZero();
    each_page([&](const Page& page, auto part) {
        multiply_add(PanelView<float>{&page.values(row, 0), panel_rows * positions, size, part.cols()}, part,
                     room.results.topRows(rows));
    });
    each_query([&](Index r, Index i, Index column) { out.row(i).segment(column, size) = room.results.row(r); });
}

void Attention::make_room(Room& room, Index rows, Index slots) const {
    if (room.scores.rows() >= rows && room.scores.cols() >= slots) return;
    const Index most = std::max(rows, room.scores.rows());
    room.queries.resize(most, pool().shape().head_size);
    room.scores.resize(most, std::max(aligned_width(2 * slots), room.scores.cols()));
    room.results.resize(most, pool().shape().head_size);
}

Vector Attention::state(Index slot, Index which) {
    const Index dim = pool().shape().dim();
    return Vector(&pages_.of(slot).states(slot % pages_.positions(), which * aligned_width(dim)), dim);
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

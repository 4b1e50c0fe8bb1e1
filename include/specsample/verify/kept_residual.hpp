// The residual of one node, kept in memory from one rejection to the next.
//
// A residual is a function of the rows, and not stored. Where several children of a node are rejected one after the
// other, each pass would make the weights of all logits again. A kept residual loses a child's row from what the last
// rejection left, by the same operations, to the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include <specsample/kernels/draw.hpp>
#include <specsample/verify/round.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {

/// The weights of a residual whose blocks are kept. Each is summed once.
template <class Residual>
struct KeptBlocks {
    const Residual& weights;
    typename Residual::Block* blocks;
    Index done;  ///< how many rejections the blocks are of; 0: none, and they are made now

    Index size() const { return weights.size(); }
    bool are_in_halves() const { return done == 0 && are_read_in_halves(weights); }
    double operator[](Index place) const { return weights[place]; }
    double sum(Index first, Index count) const { return weights.sum_kept(first, count, blocks, done); }
};

/// Return memory for blocks: those that are there, if some are kept.
template <class Block>
Block* kept_memory(RoundMemory& memory, Index count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Block) + alignof(Block);
    if (memory.kept.size() * sizeof(double) < bytes) memory.kept.resize(bytes / sizeof(double) + 1);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory.kept.data()) % alignof(Block);
    auto* const first = reinterpret_cast<std::byte*>(memory.kept.data()) + (past == 0 ? 0 : alignof(Block) - past);
    auto* const blocks = reinterpret_cast<Block*>(first);
    for (Index i = 0; memory.kept_rejections == 0 && i < count; ++i) new (blocks + i) Block;
    return std::launder(blocks);
}

/// Return what is left of a node's row as kept blocks, if they are worth their memory: where more of the node's
/// children may be rejected, and reading what is left takes less time than computing it again.
/// @param left   the residual after the last rejection
template <class Context, class Residual>
std::optional<KeptBlocks<Residual>> kept_blocks(const Context& context, Index node, const Residual& left) {
    RoundMemory& memory = context.workspace;
    const Index child = context.state(node).rejected;
    Index rejections = 1;
    for (Index at = context.shape.first_child(node); at != child; at = context.shape.next_sibling(at)) ++rejections;
    if (memory.kept_node != node || memory.kept_rejections == 0) {
        if (context.state(child).is_point || context.shape.next_sibling(child) == no_node) return std::nullopt;
        // After one rejection, rows in memory are read again as fast as what is left of them.
        if (rejections == 1 && !are_read_in_halves(left)) return std::nullopt;
        memory.kept_rejections = 0;
    }
    const Index count = (left.size() + block_size - 1) / block_size, done = memory.kept_rejections;
    const KeptBlocks<Residual> kept{left, kept_memory<typename Residual::Block>(memory, count), done};
    memory.kept_node = node, memory.kept_rejections = rejections;
    return kept;
}

}}}  // namespace specsample::detail
